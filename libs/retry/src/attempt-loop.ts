import {
  GatewayError,
  sleep,
  toGatewayError,
  type CallIdentity,
  type Clock,
  type Milliseconds,
  type Random,
  type Timers,
} from '@weir/kernel';
import { DEFAULT_BACKOFF, fullJitter, type BackoffPolicy } from './backoff.js';
import { concernsKey, isThrottle } from './failure-meaning.js';
import { RetryBudget } from './retry-budget.js';
import { silentObserver, type RetryDecision, type RetryObserver } from './retry-observer.js';

/** How often, and how long, a request may be tried. */
export interface RetryPolicy {
  /** Attempts at the targets of a route, the first included; every fallback has as many again. Default 4. */
  readonly maxAttempts: number;
  /** Retries of everything but 429s, per first attempt at the same account. Default 0.1. */
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

/** Where the attempts of one request go. The loop does not choose; it says when a target has had its turn. */
export interface Course {
  /** The account that the latest attempt called; undefined while none was called. */
  readonly account: string | undefined;
  /** The next attempt goes to another target of the same rank, if one can serve that this request has not failed at. */
  avoid(): boolean;
  /** The next attempts go to the next fallback that can serve, if there is one. */
  fallBack(): boolean;
}

/** One try; rejects with a GatewayError (or with whatever the signal carries). */
export type Attempt<T> = (number: number) => Promise<T>;

/**
 * Tries a request until it succeeds, may not be tried again, or its time is up.
 * A 429's wait is not slept here: the attempt's permit paused the dimension, and the next attempt waits in the
 * fair queue with its age. 429s count against `maxAttempts` only. Other failures go to another target at once where
 * there is one: the first attempt at an account is no retry. Repeating at an account costs its budget.
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
   * @param course tells whose budget a retry spends. Accounts come from the configuration, so they are few.
   * @throws the last attempt's error; `retryable` is left as it was, the caller's SDK is told not to retry elsewhere
   */
  run<T>(call: RetryableCall, course: Course, attempt: Attempt<T>, signal: AbortSignal): Promise<T> {
    return this.from(1, call, { course, attempt, signal, progress: { tries: 0, accounts: new Set() } });
  }

  /**
   * Goes on with a request whose answer broke after it had begun: attempts, time and budget are what is left of them.
   * Nothing paused a dimension here, so hints are slept, and even a throttle costs the budget.
   * @throws the break itself where there is no other attempt, else the last attempt's error
   */
  async resume<T>(
    call: RetryableCall,
    course: Course,
    { broken, attempt }: { readonly broken: FailedAttempt; readonly attempt: Attempt<T> },
    signal: AbortSignal,
  ): Promise<T> {
    const accounts = new Set(course.account === undefined ? [] : [course.account]);
    const run = { course, attempt, signal, progress: { tries: broken.attempt, accounts } };
    const next = this.next(call, course, asBeforeOutput(broken.error), run.progress);
    if (next === undefined) throw broken.error;
    await this.follow(call, { ...next, ...broken }, signal);
    return this.from(broken.attempt + 1, call, run);
  }

  private async from<T>(first: number, call: RetryableCall, run: Run<T>): Promise<T> {
    const { course, attempt, signal, progress } = run;
    for (let number = first; ; number += 1) {
      try {
        const answer = await attempt(number);
        this.called(course, progress);
        return answer;
      } catch (thrown) {
        this.called(course, progress);
        const error = toGatewayError(thrown);
        if (signal.aborted || !mayBeElsewhere(error)) throw thrown;
        const next = this.next(call, course, error, progress);
        if (next === undefined) throw thrown;
        await this.follow(call, { ...next, attempt: number, error }, signal);
      }
    }
  }

  /** Does what was decided, or throws the error where nothing more is to be done. */
  private async follow(
    { identity }: RetryableCall,
    decision: Step & FailedAttempt,
    signal: AbortSignal,
  ): Promise<void> {
    const over = this.observer.decided({ ...decision, identity });
    try {
      if (decision.result !== 'scheduled') throw decision.error;
      if (decision.delayMs > 0) await sleep(decision.delayMs, this.time, signal);
    } finally {
      over();
    }
  }

  /** An attempt is over: counts it, and its account where the request had not called it before. */
  private called({ account }: Course, progress: Progress): void {
    progress.tries += 1;
    if (account === undefined || progress.accounts.has(account)) return;
    progress.accounts.add(account);
    this.budgetOf(account).recordFirst();
  }

  /** What follows a failure; undefined where nothing was to be decided. */
  private next(
    call: RetryableCall,
    course: Course,
    error: GatewayError,
    progress: Progress,
  ): Step | undefined {
    // A throttled target is only paused: the limiter knows which one is the sooner.
    if (!isThrottle(error) && this.avoids(call, course, error, progress)) return atOnce(error);
    const again = error.retryable ? this.again(call, course, error, progress) : undefined;
    if (again?.result === 'scheduled') return again;
    if (isThrottle(error) && this.avoids(call, course, error, progress)) return atOnce(error);
    if (this.time.now() > call.deadline || !course.fallBack()) return again;
    progress.tries = 0;
    return atOnce(error);
  }

  /** What only concerns the key is no attempt of the request's: every account may be asked. */
  private avoids(call: RetryableCall, course: Course, error: GatewayError, { tries }: Progress): boolean {
    if (this.time.now() > call.deadline) return false;
    return (!error.retryable || tries < this.policy.maxAttempts) && course.avoid();
  }

  private again(call: RetryableCall, course: Course, error: GatewayError, { tries }: Progress): Step {
    const { backoff = DEFAULT_BACKOFF } = this.policy;
    const hintMs = error.hintMs ?? 0;
    // A hint is a floor: it is never shortened, only overshot.
    const delayMs = isThrottle(error) ? 0 : Math.max(hintMs, fullJitter(tries, backoff, this.random));
    const waitMs = Math.max(hintMs, delayMs);
    return { ...told(error), delayMs, result: this.verdict(call, course, error, { tries, waitMs }) };
  }

  private verdict(
    call: RetryableCall,
    { account }: Course,
    error: GatewayError,
    { tries, waitMs }: { readonly tries: number; readonly waitMs: Milliseconds },
  ): RetryDecision['result'] {
    if (tries >= this.policy.maxAttempts) return 'exhausted';
    if ((error.hintMs ?? 0) > this.policy.maxHintMs) return 'deadline';
    if (this.time.now() + waitMs > call.deadline) return 'deadline';
    if (isThrottle(error) || account === undefined) return 'scheduled';
    return this.budgetOf(account).trySpend() ? 'scheduled' : 'budget_denied';
  }

  private budgetOf(account: string): RetryBudget {
    let budget = this.budgets.get(account);
    if (!budget) {
      budget = new RetryBudget(this.time, { ratio: this.policy.budgetRatio, floor: 3, windowMs: 10_000 });
      this.budgets.set(account, budget);
    }
    return budget;
  }
}

/** An attempt that failed, and how. */
export interface FailedAttempt {
  /** 1 for the first. */
  readonly attempt: number;
  readonly error: GatewayError;
}

interface Run<T> {
  readonly course: Course;
  readonly attempt: Attempt<T>;
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

/** How far a request got. */
interface Progress {
  /** Attempts at the present rank of targets. */
  tries: number;
  /** Those that it has called. */
  readonly accounts: Set<string>;
}

type Step = Omit<RetryDecision, 'identity' | 'attempt' | 'error'>;

/** The provider's trouble, not the caller's fault nor our own refusal; and nothing was handed out yet. */
function mayBeElsewhere(error: GatewayError): boolean {
  return error.origin === 'provider' && !error.committed && (error.retryable || concernsKey(error));
}

/** A break, judged as a failure of which the caller has seen nothing. */
function asBeforeOutput({ code, message, origin, hintMs }: GatewayError): GatewayError {
  const hint = hintMs === undefined ? {} : { hintMs };
  return new GatewayError(code, message, {
    origin,
    failure: 'transient',
    retryable: true,
    sent: true,
    ...hint,
  });
}

function atOnce(error: GatewayError): Step {
  return { ...told(error), delayMs: 0, result: 'scheduled' };
}

function told({ hintMs }: GatewayError): Pick<Step, 'hintMs' | 'source'> {
  return { hintMs, source: hintMs === undefined ? 'computed' : 'hint' };
}
