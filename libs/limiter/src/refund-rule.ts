import type { FailureClass, GatewayError, Tokens } from '@weir/kernel';
import type { Charge } from './ledger/ledger.js';
import type { Cost, Ending, Refund, RefundReason, Usage } from './limiter.js';

/** What an attempt costs in the end, and how that is told. */
export interface Verdict {
  readonly charge: Charge;
  readonly ending: Ending;
}

/** What comes back of a reservation. The slot always does. */
export type Refundable = 'nothing' | 'tokens' | 'everything';

/**
 * What a failed attempt gives back (docs/request-lifecycle.md has the table). A rejected request stays spent: OpenAI,
 * OpenRouter and Gemini count failures (their rate-limit pages, read 2026-11), and giving it back makes any limiter a
 * no-op under load (some 90 % of 429s in the pacing bench). What may have run keeps its tokens until the window passes.
 */
export function refundableAfter(failure: FailureClass | undefined): Refundable {
  switch (failure) {
    case 'concurrency':
      return 'everything';
    case 'rate_limit_requests':
    case 'rate_limit_tokens':
    case 'quota_exhausted':
    case 'too_large':
    case 'auth':
    case 'invalid_request':
    case 'overloaded':
      return 'tokens';
    case 'transient':
    case 'fatal':
    case undefined:
      return 'nothing';
  }
}

/** Whether a failure is a provider's no to a rate, a number of tokens or a number of calls at a time. */
export function isThrottle(failure: FailureClass | undefined): boolean {
  return failure === 'rate_limit_requests' || failure === 'rate_limit_tokens' || failure === 'concurrency';
}

/** The answer came: its usage is charged, the reservation where nobody knows. */
export function settledVerdict(reserved: Cost, usage: Usage): Verdict {
  return verdict('settled', reserved, 'overestimate', {
    requests: 1,
    inputTokens: known(usage.inputTokens) ?? reserved.inputTokens,
    outputTokens: known(usage.outputTokens) ?? reserved.outputTokens,
  });
}

/** Undefined for what no answer can have used: below zero, without end, or no number. */
function known(tokens: Tokens | undefined): Tokens | undefined {
  return tokens !== undefined && tokens >= 0 && tokens < Infinity ? tokens : undefined;
}

/** The attempt failed before any output. */
export function failedVerdict(reserved: Cost, error: GatewayError, refundable: Refundable): Verdict {
  const kind = turnedAway(error.failure) ? 'rejected' : 'failed';
  const reason = isThrottle(error.failure) ? 'throttled' : 'error';
  return verdict(kind, reserved, reason, chargeAfter(reserved, refundable));
}

/** The request is not wanted any more. */
export function cancelledVerdict(reserved: Cost, refundable: Refundable): Verdict {
  return verdict('cancelled', reserved, 'cancelled', chargeAfter(reserved, refundable));
}

/** A second ending: nothing happens. */
export function alreadyEnded(reserved: Cost): Ending {
  const tokens = reserved.inputTokens + reserved.outputTokens;
  return { kind: 'already_ended', reservedTokens: tokens, chargedTokens: tokens, refunds: [] };
}

function turnedAway(failure: FailureClass | undefined): boolean {
  return failure !== 'overloaded' && refundableAfter(failure) !== 'nothing';
}

function chargeAfter(reserved: Cost, refundable: Refundable): Charge {
  if (refundable === 'nothing') return { requests: 1, ...reserved };
  return { requests: refundable === 'everything' ? 0 : 1, inputTokens: 0, outputTokens: 0 };
}

function verdict(kind: Ending['kind'], reserved: Cost, reason: RefundReason, charge: Charge): Verdict {
  const reservedTokens = reserved.inputTokens + reserved.outputTokens;
  const chargedTokens = charge.inputTokens + charge.outputTokens;
  const refunds: Refund[] = [];
  if (charge.requests === 0) refunds.push({ unit: 'requests', amount: 1, reason });
  if (chargedTokens < reservedTokens) {
    refunds.push({ unit: 'tokens', amount: reservedTokens - chargedTokens, reason });
  }
  return { charge, ending: { kind, reservedTokens, chargedTokens, refunds } };
}
