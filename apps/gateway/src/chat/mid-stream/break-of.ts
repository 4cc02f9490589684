import { GatewayError, type FailureClass } from '@weir/kernel';

/** Failures after which the same request may well succeed. */
const PASSING: ReadonlySet<FailureClass | undefined> = new Set<FailureClass>([
  'transient',
  'overloaded',
  'rate_limit_requests',
  'rate_limit_tokens',
  'concurrency',
]);

/**
 * The break of an answer that may be made good; undefined for everything else. A stream that fell silent is broken; one
 * that used up `timeouts.totalMs` is not: another attempt would have no time either.
 */
export function breakOf(thrown: unknown): GatewayError | undefined {
  if (!(thrown instanceof GatewayError) || !thrown.committed) return undefined;
  return PASSING.has(thrown.failure) && thrown.phase !== 'total' ? thrown : undefined;
}
