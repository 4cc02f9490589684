import type { Milliseconds } from '@weir/kernel';
import type { DimensionUnit } from '../limiter.js';

/**
 * How a provider enforces a window. `unknown` is learned from its 429s. A bucket's capacity is in the dimension's unit:
 * whoever declares a bucket of requests has to scale it for tokens.
 */
export type Shape =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'sliding' }
  | { readonly kind: 'fixed' }
  | { readonly kind: 'bucket'; readonly capacity: number }
  | { readonly kind: 'quantum'; readonly quantumMs: Milliseconds };

/** What is configured of a dimension. */
export interface DimensionSpec {
  /** Unique, such as `account:main:requests`, `model:main/gemini-2.5-pro:tokens`, `team:search:tokens`. */
  readonly id: string;
  readonly scope: 'account' | 'model' | 'team';
  readonly account?: string;
  readonly model?: string;
  readonly team?: string;
  readonly unit: DimensionUnit;
  /** Per window; slots: at one time. Infinity disables, 0 stops. */
  readonly limit: number;
  /** W. Ignored for slots. */
  readonly windowMs: Milliseconds;
  readonly shape: Shape;
  /** Most that may leave at once. Default: a tenth of the limit for requests, a quarter for tokens; at least one request. */
  readonly burst?: number;
  /** J: spread of the one-way delay to the provider that the guard allows for. */
  readonly delaySpreadMs: Milliseconds;
}

/**
 * The arithmetic of one dimension. Time is always passed in and monotonic; asking never changes anything
 * that a later answer could show. A debit is known by the slot (a number) it was written in.
 */
export interface Dimension {
  readonly spec: DimensionSpec;
  /** The limit in force: configured, set at run time, or stated by the provider. */
  readonly limit: number;
  /** The largest amount that can ever be debited at once under this limit: of a bucket no more than its capacity. */
  readonly largest: number;
  /** Whether `amount` may be debited at `now`. */
  fits(amount: number, now: Milliseconds): boolean;
  /** Earliest time >= now at which `amount` fits if nothing else is debited. Infinity: not by time alone. */
  earliest(amount: number, now: Milliseconds): Milliseconds;
  /** The same, supposing that `first` were debited at `now`. For backfill: may a small one go before the head? */
  earliestAfter(first: number, amount: number, now: Milliseconds): Milliseconds;
  /** Debits an amount that fits, and returns the slot. */
  debit(amount: number, now: Milliseconds): number;
  /**
   * Corrects a debit in its own slot by `delta` (negative gives room back). A slot that has left the window
   * is not touched. Slots of concurrency: -1 frees it.
   */
  correct(slot: number, delta: number, now: Milliseconds): void;
  /**
   * What was debited in `slot` leaves only now, so it counts from now on: J allows for the way to the provider, not
   * for what our own process took between grant and departure. Slots of concurrency: nothing changes.
   * @returns the debit's new slot
   */
  postpone(slot: number, amount: number, now: Milliseconds): number;
  /** No grant before `until`. A shorter pause never shortens a longer one. */
  pause(until: Milliseconds): void;
  readonly pausedUntil: Milliseconds;
  /** A provider refused for this dimension: the learner moves the knob that was tight, once per burst of refusals. */
  throttled(now: Milliseconds, hintMs: Milliseconds | undefined): void;
  /** A new limit at run time or from a provider's header. */
  setLimit(limit: number, now: Milliseconds): void;
  /** What could be debited at this instant. */
  room(now: Milliseconds): number;
  /** What the whole window still holds, whatever the pace. */
  spare(now: Milliseconds): number;
  /** When the whole window has `amount` to spare, if nothing is debited. Infinity: not by time alone. */
  spareAt(amount: number, now: Milliseconds): Milliseconds;
  /** Debited in the window that ends now. */
  used(now: Milliseconds): number;
  /** Declared or learned shape, for people: `sliding`, `unknown: 10 s guard`, ... */
  describe(): string;
}
