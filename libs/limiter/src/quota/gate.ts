import type { Milliseconds } from '@weir/kernel';

/**
 * One of the conditions that a debit has to pass. Times given to a gate never run backwards from one change to the
 * next (the dimension sees to it); asking changes nothing.
 */
export interface Gate {
  fits(amount: number, at: Milliseconds): boolean;
  /**
   * Earliest time >= `from` at which the amount passes. Infinity: not by time alone.
   * Where that is not after `ask.at`, it passes now and `from` is the answer.
   */
  earliest(ask: GateAsk, from: Milliseconds): Milliseconds;
  debit(amount: number, at: Milliseconds): void;
  /** A debit of `madeAt` cost `delta` more or, where negative, less. */
  correct(delta: number, madeAt: Milliseconds, at: Milliseconds): void;
  /** A debit of `madeAt` leaves only at `at`: what looks at the past has to see it there. */
  postpone(amount: number, madeAt: Milliseconds, at: Milliseconds): void;
  /** The largest amount that passes. */
  room(at: Milliseconds): number;
}

/** When will `amount` pass, supposing that `first` were debited at `at`? */
export interface GateAsk {
  readonly amount: number;
  readonly first: number;
  readonly at: Milliseconds;
}

/** Sums of fractions are not exact; nothing that is counted in whole units is this small. */
export const TINY = 1e-6;
