import type { Clock, EpochMilliseconds } from '@weir/kernel';
import type { Ledger } from './ledger/ledger.js';
import type { Dimension } from './quota/dimension.js';
import { aged, type DimensionState, type RestorableDimension } from './quota/dimension-state.js';

/**
 * What a limiter knows, for a planned restart: what was spent when, pauses and what was learned. Plain JSON.
 * Waiters and open permits are not in it: they end with their process, and what they reserved stays spent.
 */
export interface LimiterSnapshot {
  readonly version: 1;
  /** Civil time: no monotonic clock outlives its process. */
  readonly takenAt: EpochMilliseconds;
  readonly dimensions: Readonly<Record<string, DimensionState>>;
}

/** Everything that the dimensions of a ledger know. */
export function takeSnapshot(ledger: Ledger, clock: Clock): LimiterSnapshot {
  const states = [...ledger.dimensions]
    .filter(isRestorable)
    .map((dimension) => [dimension.spec.id, dimension.snapshot(clock.now())] as const);
  return { version: 1, takenAt: clock.epochNow(), dimensions: Object.fromEntries(states) };
}

/** Puts what was known in the place of what a new ledger supposes. Dimensions that are no longer configured are left out. */
export function restoreSnapshot(ledger: Ledger, clock: Clock, snapshot: LimiterSnapshot): void {
  for (const [id, state] of Object.entries(snapshot.dimensions)) {
    const dimension = ledger.dimension(id);
    if (dimension && isRestorable(dimension)) {
      dimension.restore(aged(state, clock.epochNow() - snapshot.takenAt), clock.now());
    }
  }
}

function isRestorable(dimension: Dimension): dimension is RestorableDimension {
  return 'snapshot' in dimension && 'restore' in dimension;
}
