import type { Milliseconds } from '@weir/kernel';

/**
 * One limited quantity, counted as a provider counts it. Pure: every call is given the time, which never runs
 * backwards. Nothing here is shared with Weir's limiter, so that no mistake can sit on both sides.
 */
export interface QuotaWindow {
  /** Time until `cost` fits if nothing else comes: 0 now, Infinity never. Changes nothing. */
  waitMs(cost: number, now: Milliseconds): Milliseconds;
  /** Charges `cost`, whether it fits or not. */
  take(cost: number, now: Milliseconds): Charge;
  /** Charges a call that was refused, so that hammering keeps the window full. */
  penalise(cost: number, now: Milliseconds): void;
  /** Part of the quota that is free now, from 0 to 1. */
  room(now: Milliseconds): number;
  /** Time until everything is free again if nothing else comes. */
  resetMs(now: Milliseconds): Milliseconds;
  /** A new limit in force from `now` on; what was charged stays charged. */
  retune(limit: number, now: Milliseconds): void;
}

/** What one call took from one window. */
export interface Charge {
  /** Makes it `cost` instead, in the place where it was taken; without effect once that place has left the window. */
  amend(cost: number, now: Milliseconds): void;
}
