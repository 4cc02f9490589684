import type { Milliseconds } from '@weir/kernel';
import type { Dimension } from './dimension.js';
import type { Knobs } from './knobs.js';

/** What a dimension knows, for a planned restart. Plain JSON; times are ages, because no clock outlives a process. */
export interface DimensionState {
  /** The limit that `learned` is about. */
  readonly limit: number;
  /** What was spent, as pairs of age in milliseconds and amount, oldest first. */
  readonly spent: readonly (readonly [ageMs: Milliseconds, amount: number])[];
  /** Time that the pacer or the bucket still needs. */
  readonly debtMs: Milliseconds;
  readonly pausedForMs: Milliseconds;
  readonly learned?: Knobs;
}

/** A dimension that a planned restart does not forget. */
export interface RestorableDimension extends Dimension {
  snapshot(now: Milliseconds): DimensionState;
  /** Takes the place of everything that was supposed or debited. Ages are as of `now`; see `aged`. */
  restore(state: DimensionState, now: Milliseconds): void;
}

/** The state, `byMs` of civil time later. */
export function aged(state: DimensionState, byMs: Milliseconds): DimensionState {
  const later = Math.max(0, byMs);
  return {
    ...state,
    spent: state.spent.map(([ageMs, amount]) => [ageMs + later, amount]),
    debtMs: Math.max(0, state.debtMs - later),
    pausedForMs: Math.max(0, state.pausedForMs - later),
  };
}
