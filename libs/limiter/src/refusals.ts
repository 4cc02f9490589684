import { GatewayError, type Milliseconds } from '@weir/kernel';
import { amountOf } from './ledger/ledger.js';
import type { Cost } from './limiter.js';
import type { Dimension } from './quota/dimension.js';
import type { Expectation } from './queue/eta.js';

/** An instance that is going away says: try another one, soon. */
const DRAINING_HINT_MS: Milliseconds = 1_000;
/** Where nobody can know, such as while a dimension is stopped. */
const UNKNOWN_HINT_MS: Milliseconds = 60_000;

/** When a refused request could expect its grant. */
export interface Standing {
  readonly expected: Expectation;
  readonly now: Milliseconds;
}

/** The process or the team has as many waiting requests as it may have. */
export function queueFull(whose: string, depth: number, hintMs: Milliseconds): GatewayError {
  return refusal(
    'queue_full',
    `${whose} has ${depth} requests waiting, which is the most allowed. Retry after the time given.`,
    Math.max(1, finite(hintMs)),
  );
}

/** The process is about to end. */
export function draining(): GatewayError {
  return refusal(
    'draining',
    'This gateway is shutting down. Retry: another instance will answer.',
    DRAINING_HINT_MS,
  );
}

/** What is asked for cannot be counted: a fault of the caller's, and not of the request's. */
export function notACost({ inputTokens, outputTokens }: Cost): GatewayError {
  return new GatewayError(
    'internal',
    `A cost is two finite numbers of tokens, none below zero: not ${inputTokens} and ${outputTokens}.`,
  );
}

/** Neither an amount nor Infinity: it would stop everybody, and nobody meant that. */
export function notALimit(limit: number): GatewayError {
  return new GatewayError('internal', `A limit is a number from 0 to Infinity: not ${limit}.`);
}

/** A time that cannot be compared would never come. */
export function notADeadline(): GatewayError {
  return new GatewayError('internal', 'A deadline is a number of milliseconds.');
}

/** No window can ever hold this cost. */
export function neverFits({ spec, largest }: Dimension, cost: Cost): GatewayError {
  const amount = amountOf(spec.unit, cost);
  return new GatewayError(
    'cost_exceeds_capacity',
    `The request needs ${amount} ${spec.unit}, but ${spec.id} allows ${largest} at once. Lower max_tokens or shorten the prompt.`,
    { param: 'max_tokens', dimension: spec.id },
  );
}

/** It would not be granted in time, and need not wait to learn that. @param ahead requests of its flow before it */
export function tooLate(standing: Standing, leftMs: Milliseconds, ahead: number): GatewayError {
  return late(
    standing,
    `would be granted in about ${inSeconds(standing.expected.at - standing.now)}, after its deadline in ${inSeconds(leftMs)}`,
    `behind about ${ahead} requests of its team for this model`,
  );
}

/** It waited until its deadline. @param others requests of its flow that wait, before it or behind it */
export function expired(standing: Standing, waitedMs: Milliseconds, others: number): GatewayError {
  return late(
    standing,
    `waited ${inSeconds(waitedMs)} and reached its deadline`,
    `with ${others} other requests of its team waiting for this model`,
  );
}

/** It waited until its deadline for its conversation, whose earlier request is not done. @param hintMs how long one lasts */
export function spokenFor(waitedMs: Milliseconds, hintMs: Milliseconds): GatewayError {
  return refusal(
    'wait_exceeds_deadline',
    `The request waited ${inSeconds(waitedMs)} for an earlier request of its conversation and reached its deadline. Retry after the time given.`,
    Math.max(1, hintMs),
  );
}

function late({ expected, now }: Standing, what: string, among: string): GatewayError {
  const { boundBy, at } = expected;
  const where = boundBy ? `; blocked by ${boundBy.spec.id}` : '';
  return refusal(
    boundBy?.spec.scope === 'team' ? 'team_share_exceeded' : 'wait_exceeds_deadline',
    `The request ${what}${where}, ${among}. Retry after the time given.`,
    Math.max(1, finite(at - now)),
    boundBy?.spec.id,
  );
}

function refusal(
  code: 'queue_full' | 'draining' | 'team_share_exceeded' | 'wait_exceeds_deadline',
  message: string,
  hintMs: Milliseconds,
  dimension?: string,
): GatewayError {
  const detail = { retryable: true, hintMs };
  return new GatewayError(code, message, dimension === undefined ? detail : { ...detail, dimension });
}

function finite(durationMs: Milliseconds): Milliseconds {
  return Number.isFinite(durationMs) ? durationMs : UNKNOWN_HINT_MS;
}

function inSeconds(durationMs: Milliseconds): string {
  return `${(Math.max(0, finite(durationMs)) / 1000).toFixed(1)} s`;
}
