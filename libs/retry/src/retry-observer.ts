import type { CallIdentity, GatewayError, Milliseconds } from '@weir/kernel';

/** Who is told of every decision after a failed attempt. Telemetry implements it. */
export interface RetryObserver {
  /** Called at the decision; the function that it returns is called once, when the backoff is over or was cut short. */
  decided(decision: RetryDecision): () => void;
}

/** Injection token of the port. */
export const RetryObserver = Symbol('RetryObserver');

/** What was decided after attempt `attempt` failed with a retryable error. */
export interface RetryDecision {
  readonly identity: CallIdentity;
  /** The attempt that failed; 1 for the first. */
  readonly attempt: number;
  readonly error: GatewayError;
  /** Backoff slept here. 0 where the limiter's pause does the waiting. */
  readonly delayMs: Milliseconds;
  /** The provider's own hint, where it gave one. */
  readonly hintMs: Milliseconds | undefined;
  readonly source: 'hint' | 'computed';
  readonly result: 'scheduled' | 'exhausted' | 'budget_denied' | 'deadline';
}

/** Observes nothing. */
export const silentObserver: RetryObserver = { decided: () => () => undefined };
