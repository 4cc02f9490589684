import type { GatewayError } from '@weir/kernel';

/**
 * Whether a failure says that the provider is broken: 5xx, 529, timeouts, connection faults, answers that were cut.
 * A 429 or another 4xx is an answer of a provider that works, and whatever is of the gateway's or the caller's making
 * says nothing about it.
 */
export function isBreakdown(error: GatewayError): boolean {
  if (error.origin !== 'provider' || concernsKey(error)) return false;
  const { upstreamStatus: status, failure } = error;
  if (status !== undefined && status >= 400) return status >= 500;
  return failure === 'transient' || failure === 'overloaded';
}

/** Whether fewer calls at a time may help: 503, 529, and whatever was too slow to begin. */
export function isOverload({ origin, upstreamStatus, phase }: GatewayError): boolean {
  if (origin !== 'provider') return false;
  if (upstreamStatus === 503 || upstreamStatus === 529) return true;
  return phase === 'connect' || phase === 'headers' || phase === 'first_frame';
}

/** Whether a failure is about the credential or what it may still spend: only time or a person mends it. */
export function concernsKey({ failure }: GatewayError): boolean {
  return failure === 'quota_exhausted' || failure === 'auth';
}

/** Failures after which the limiter pauses the dimension, so that nobody needs to sleep. */
export function isThrottle({ failure }: GatewayError): boolean {
  return failure === 'rate_limit_requests' || failure === 'rate_limit_tokens' || failure === 'concurrency';
}
