import {
  sleep,
  toGatewayError,
  type CallIdentity,
  type Clock,
  type GatewayError,
  type Milliseconds,
  type Random,
  type Timers,
} from '@weir/kernel';
import { DEFAULT_BACKOFF, fullJitter, type BackoffPolicy } from './backoff.js';
import { RetryBudget } from './retry-budget.js';
import { silentObserver, type RetryDecision, type RetryObserver } from './retry-observer.js';

/** How often, and how long, a request may be tried. */
export interface RetryPolicy {
  /** Attempts in all, the first included. Default 4. */
  readonly maxAttempts: number;
  /** Retries of everything but 429s, per first attempt. Default 0.1. */
  readonly budgetRatio: number;
  /** A provider's hint above this is not waited for: the caller is refused with it. Default 60 s. */
  readonly maxHintMs: Milliseconds;
  readonly backoff?: BackoffPolicy;
}

/** What the loop needs of a request. */
export interface RetryableCall {
  readonly identity: CallIdentity;
  /** Monotonic time after which no attempt starts. */
  readonly deadline: Milliseconds;
}

/** One try; rejects with a GatewayError (or with whatever the signal carries). */
export type Attempt<T> = (number: number) => Promise<T>;

/**
 * Tries a request until it succeeds, may not be tried again, or its time is up.
 * A 429's wait is not slept here: the attempt's permit paused the dimension, and the next attempt waits in the
 * fair queue with its age. 429s count against `maxAttempts` only; everything else also against the budget.
 */
export class AttemptLoop {
  private readonly budgets = new Map<string, RetryBudget>();

  constructor(
    private readonly policy: RetryPolicy,
    private readonly time: Clock & Timers,
    private readonly random: Random,
    private readonly observer: RetryObserver = silentObserver,
  ) {}

  /**
   * @param budgetKey whose budget the retries spend: the account. Keys come from the configuration, so they are few.
   * @throws the last attempt's error; `retryable` is left as it was, the caller's SDK is told not to retry elsewhere
   */
  async run<T>(call: RetryableCall, budgetKey: string, attempt: Attempt<T>, signal: AbortSignal): Promise<T> {
    const budget = this.budgetOf(budgetKey);
    budget.recordFirst();
    for (let number = 1; ; number += 1) {
      try {
        return await attempt(number);
      } catch (thrown) {
        const error = toGatewayError(thrown);
        if (signal.aborted || !error.retryable || error.committed) throw thrown;
        const decision = this.decide(call, number, error, budget);
        const over = this.observer.decided(decision);
        try {
          if (decision.result !== 'scheduled') throw error;
          if (decision.delayMs > 0) await sleep(decision.delayMs, this.time, signal);
        } finally {
          over();
        }
      }
    }
  }

  private decide(
    call: RetryableCall,
    number: number,
    error: GatewayError,
    budget: RetryBudget,
  ): RetryDecision {
    const paused = isThrottle(error);
    const computed = fullJitter(number, this.policy.backoff ?? DEFAULT_BACKOFF, this.random);
    // A hint is a floor: it is never shortened, only overshot.
    const delayMs = paused ? 0 : Math.max(error.hintMs ?? 0, computed);
    const waitMs = Math.max(error.hintMs ?? 0, delayMs);
    return {
      identity: call.identity,
      attempt: number,
      error,
      delayMs,
      hintMs: error.hintMs,
      source: error.hintMs === undefined ? 'computed' : 'hint',
      result: this.verdict(call, { number, waitMs, hintMs: error.hintMs ?? 0, paused, budget }),
    };
  }

  private verdict(call: RetryableCall, facts: Facts): RetryDecision['result'] {
    if (facts.number >= this.policy.maxAttempts) return 'exhausted';
    if (facts.hintMs > this.policy.maxHintMs) return 'deadline';
    if (this.time.now() + facts.waitMs > call.deadline) return 'deadline';
    if (!facts.paused && !facts.budget.trySpend()) return 'budget_denied';
    return 'scheduled';
  }

  private budgetOf(key: string): RetryBudget {
    let budget = this.budgets.get(key);
    if (!budget) {
      budget = new RetryBudget(this.time, { ratio: this.policy.budgetRatio, floor: 3, windowMs: 10_000 });
      this.budgets.set(key, budget);
    }
    return budget;
  }
}

interface Facts {
  readonly number: number;
  readonly waitMs: Milliseconds;
  readonly hintMs: Milliseconds;
  readonly paused: boolean;
  readonly budget: RetryBudget;
}

/** Failures after which the limiter pauses the dimension, so that nobody needs to sleep. */
function isThrottle(error: GatewayError): boolean {
  return (
    error.failure === 'rate_limit_requests' ||
    error.failure === 'rate_limit_tokens' ||
    error.failure === 'concurrency'
  );
}
