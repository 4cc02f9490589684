import type { ErrorCode, FailureClass, GatewayError } from '@weir/kernel';
import type { AttemptOutcome, Outcome, ThrottleKind, WaitResult } from './names.js';

const OUTCOME_OF: Readonly<Record<ErrorCode, Outcome>> = {
  invalid_request: 'rejected',
  cost_exceeds_capacity: 'rejected',
  unauthorized: 'rejected',
  model_not_found: 'rejected',
  stream_not_found: 'rejected',
  stream_gone: 'rejected',
  idempotency_conflict: 'rejected',
  body_too_large: 'rejected',
  team_share_exceeded: 'client_throttled',
  wait_exceeds_deadline: 'queue_timeout',
  account_parked: 'client_throttled',
  upstream_rate_limited: 'upstream_throttled',
  queue_full: 'client_throttled',
  draining: 'client_throttled',
  circuit_open: 'upstream_error',
  upstream_unavailable: 'upstream_error',
  upstream_protocol: 'upstream_error',
  upstream_auth: 'upstream_error',
  upstream_timeout: 'upstream_error',
  upstream_rejected: 'rejected',
  stream_truncated: 'upstream_error',
  client_disconnected: 'cancelled',
  internal: 'internal_error',
};

/** What a request's ending is counted as; `undefined` is a whole answer. */
export function outcomeOf(error: GatewayError | undefined): Outcome {
  return error === undefined ? 'ok' : OUTCOME_OF[error.code];
}

/** What a bare HTTP status is counted as, for requests that were refused before anybody knew what they wanted. */
export function outcomeOfStatus(status: number): Outcome {
  if (status === 499) return 'cancelled';
  if (status >= 500) return 'internal_error';
  return status >= 400 ? 'rejected' : 'ok';
}

/** How an attempt that failed is counted. Throttled is an effective 429, wherever the provider hid it. */
export function attemptOutcomeOf(error: GatewayError): AttemptOutcome {
  if (error.code === 'client_disconnected') return 'cancelled';
  if (error.upstreamStatus === 429) return 'throttled';
  return error.code === 'upstream_timeout' ? 'timeout' : 'error';
}

/** `error.type`: the effective status where there is one, else a word of a closed set. */
export function errorTypeOf(error: GatewayError): string {
  if (error.upstreamStatus !== undefined && error.upstreamStatus >= 400) return String(error.upstreamStatus);
  return error.code === 'upstream_timeout' ? 'timeout' : error.code;
}

const KIND_OF: Readonly<Record<FailureClass, ThrottleKind>> = {
  rate_limit_requests: 'requests',
  rate_limit_tokens: 'tokens',
  concurrency: 'concurrency',
  quota_exhausted: 'billing',
  overloaded: 'overloaded',
  transient: 'unknown',
  too_large: 'tokens',
  auth: 'unknown',
  invalid_request: 'unknown',
  fatal: 'unknown',
};

/** What a 429 was about. A spent quota that tells when it comes back is a day's quota; one that does not is a bill. */
export function throttleKindOf(error: GatewayError): ThrottleKind {
  if (error.failure === undefined) return 'unknown';
  return error.failure === 'quota_exhausted' && error.hintMs !== undefined ? 'daily' : KIND_OF[error.failure];
}

/** How a wait that gave no permit ended. Whatever is not a word of the gateway is the caller's own abort. */
export function waitResultOf(error: GatewayError | undefined): WaitResult {
  if (error === undefined || error.code === 'client_disconnected') return 'cancelled';
  return error.code === 'wait_exceeds_deadline' ? 'timeout' : 'shed';
}
