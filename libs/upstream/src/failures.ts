import {
  GatewayError,
  type EpochMilliseconds,
  type ErrorCode,
  type FailureClass,
  type GatewayErrorDetail,
  type Milliseconds,
  type PassThrough,
  type TimeoutPhase,
} from '@weir/kernel';
import { encodeErrorBody, isRecord, parseJson } from '@weir/protocol';
import { classifyFailure, isPerModel } from './classify-failure.js';
import type { Fault } from './fault.js';
import { waitHint } from './hints.js';
import type { ProviderProfile } from './profiles/profile.js';
import { readRefusal, type Headers, type Refusal } from './refusal.js';

/** What the meaning of a fault depends on. */
export interface FaultContext {
  readonly profile: ProviderProfile;
  readonly httpStatus: number;
  readonly headers: Headers;
  /** Frames were handed to the caller, so nothing can be asked again. */
  readonly committed: boolean;
  readonly now: EpochMilliseconds;
}

/** The fault as the error that the caller of the port gets. */
export function failureOf(fault: Fault, context: FaultContext): GatewayError {
  if (fault.kind === 'refused') return refusedError(fault.body, fault.inBand, context);
  const { code, failure, message } = broken(fault, context.committed);
  return new GatewayError(code, message, {
    ...provider(context.committed),
    failure,
    retryable: failure === 'transient' && !context.committed,
    upstreamStatus: context.httpStatus,
    cause: fault.kind === 'cut' ? fault.cause : undefined,
  });
}

/** The wire broke before there was an answer. */
export function connectionError(sent: boolean, cause: unknown): GatewayError {
  const message = sent
    ? 'The connection to the provider broke before it answered. Try again.'
    : 'The provider could not be reached. Try again; if it goes on, check its address and the network.';
  return new GatewayError('upstream_unavailable', message, {
    origin: 'provider',
    failure: 'transient',
    retryable: true,
    sent,
    cause,
  });
}

/** A wait of the attempt ran out. Idle and total are final; the others are retried before the commit point. */
export function timeoutError(
  phase: TimeoutPhase,
  where: { sent: boolean; committed: boolean },
): GatewayError {
  const final = where.committed || phase === 'idle' || phase === 'total';
  return new GatewayError('upstream_timeout', TIMEOUT_TEXT[phase], {
    origin: 'provider',
    failure: 'transient',
    retryable: !final,
    phase,
    ...where,
  });
}

const TIMEOUT_TEXT: Readonly<Record<TimeoutPhase, string>> = {
  connect: 'The provider did not accept a connection in time (timeouts.connectMs). Try again later.',
  headers: 'The provider did not begin to answer in time (timeouts.headersMs). Try again later.',
  first_frame: 'The provider sent no output in time (timeouts.firstFrameMs). Try again later.',
  idle: 'The provider fell silent in the middle of its answer (timeouts.idleMs). What came so far is incomplete.',
  total:
    'The answer took longer than the gateway allows (timeouts.totalMs). Ask for less, or raise the limit.',
};

interface Broken {
  readonly code: ErrorCode;
  readonly failure: FailureClass;
  readonly message: string;
}

function broken(fault: Exclude<Fault, { kind: 'refused' }>, committed: boolean): Broken {
  switch (fault.kind) {
    case 'cut':
      return committed
        ? say(
            'stream_truncated',
            'transient',
            'The provider broke off in the middle of its answer. What came so far is incomplete; ask again.',
          )
        : say(
            'upstream_unavailable',
            'transient',
            'The provider broke off before its answer was whole. Try again.',
          );
    case 'empty':
      return say(
        'upstream_protocol',
        'transient',
        'The provider answered with success but without content. Try again.',
      );
    case 'garbled':
      return say(
        'upstream_protocol',
        'transient',
        'The provider answered with success, but the body is not JSON. Try again.',
      );
    case 'html':
      return say(
        'upstream_protocol',
        'fatal',
        'The provider answered with a web page. Check the baseUrl of the account.',
      );
    case 'oversized':
      return say(
        'upstream_protocol',
        'fatal',
        'The provider sent an answer that is too large to hold. Ask for a stream.',
      );
  }
}

function say(code: ErrorCode, failure: FailureClass, message: string): Broken {
  return { code, failure, message };
}

function refusedError(body: Buffer, inBand: boolean, context: FaultContext): GatewayError {
  const refusal = readRefusal({ httpStatus: context.httpStatus, headers: context.headers, body });
  const { failure, retryable } = classifyFailure(refusal, context.profile);
  const hintMs = waitHint(refusal, failure, context.now);
  const isJson = isJsonBody(refusal, body);
  const code = CODES[failure];
  const message = MESSAGES[failure](refusal.status, hintMs);
  const detail: GatewayErrorDetail = {
    ...provider(context.committed),
    failure,
    retryable: retryable && !context.committed,
    upstreamStatus: refusal.status,
    perModel: isPerModel(refusal),
    anonymous: !inBand && !isJson,
    ...(hintMs === undefined ? {} : { hintMs }),
  };
  const shown = new GatewayError(code, message, detail);
  if (!isCallersBusiness(failure, context.committed)) return shown;
  const contentType = isJson && !inBand ? context.headers['content-type'] : undefined;
  const passThrough: PassThrough = {
    status: refusal.status,
    contentType: contentType ?? 'application/json',
    // A page or a bare sentence is replaced by our own words.
    body: isJson ? body : encodeErrorBody(shown),
  };
  return new GatewayError(code, message, { ...detail, passThrough });
}

function provider(committed: boolean): GatewayErrorDetail {
  return { origin: 'provider', sent: true, committed };
}

/** Before output only what the caller can change; after it every error but those about our account. */
function isCallersBusiness(failure: FailureClass, committed: boolean): boolean {
  if (failure === 'too_large' || failure === 'invalid_request') return true;
  return committed && failure !== 'auth' && failure !== 'quota_exhausted';
}

/** Whether a body is what every provider's refusal is (seen until 2026-11), and no page: an object, or a list of one. */
function isJsonBody({ html }: Refusal, body: Buffer): boolean {
  const json = html ? undefined : parseJson(body.toString('utf8'));
  return isRecord(json) || Array.isArray(json);
}

const CODES: Readonly<Record<FailureClass, ErrorCode>> = {
  rate_limit_requests: 'upstream_rate_limited',
  rate_limit_tokens: 'upstream_rate_limited',
  concurrency: 'upstream_rate_limited',
  quota_exhausted: 'upstream_rate_limited',
  overloaded: 'upstream_unavailable',
  transient: 'upstream_unavailable',
  auth: 'upstream_auth',
  too_large: 'upstream_rejected',
  invalid_request: 'upstream_rejected',
  fatal: 'upstream_protocol',
};

type Message = (status: number, hintMs: Milliseconds | undefined) => string;

const later = (hintMs: Milliseconds | undefined): string =>
  hintMs === undefined ? 'Try again later.' : `Try again in ${Math.ceil(hintMs / 1000)} s.`;

/** Ours, not the provider's: its prose may name our keys and organisation, or quote the prompt. */
const MESSAGES: Readonly<Record<FailureClass, Message>> = {
  rate_limit_requests: (_status, hint) => `The provider's limit of requests is reached. ${later(hint)}`,
  rate_limit_tokens: (_status, hint) => `The provider's limit of tokens is reached. ${later(hint)}`,
  concurrency: (_status, hint) => `The provider has too many requests of this account open. ${later(hint)}`,
  quota_exhausted: (_status, hint) =>
    `The provider's quota or budget for this account is used up; retrying does not help. ${hint === undefined ? 'Ask the operator.' : later(hint)}`,
  overloaded: (status, hint) => `The provider is overloaded (${status}). ${later(hint)}`,
  transient: (status, hint) => `The provider failed (${status}). ${later(hint)}`,
  auth: (status) => `The provider refused the gateway's own credential (${status}). Ask the operator.`,
  too_large: (status) =>
    `The request is larger than the provider takes (${status}). Send less, or lower max_tokens.`,
  invalid_request: (status) =>
    `The provider refused the request (${status}). Change it before you send it again.`,
  fatal: (status) =>
    `The provider gave an answer that the gateway does not understand (${status}). Ask the operator.`,
};
