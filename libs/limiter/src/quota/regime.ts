import type { Milliseconds } from '@weir/kernel';
import type { Gate } from './gate.js';
import type { Knobs } from './knobs.js';
import type { WindowGuard } from './window-guard.js';

/** How a dimension is kept: its gates, and how they change with the limit and with refusals. */
export interface Regime {
  /** All of them have to let an amount pass. */
  readonly gates: readonly Gate[];
  /** The guard of the whole window, for sums. */
  readonly guard: WindowGuard;
  /** Above it no time helps. */
  readonly largest: number;
  /** Starts as if the last window had been spent evenly. */
  presumeSpent(at: Milliseconds): void;
  /** @param limit above zero; Infinity opens every gate */
  setLimit(limit: number, at: Milliseconds): void;
  /** Something was debited: time to look whether all has been quiet. */
  debited(at: Milliseconds): void;
  /** @param until when grants go on: the first is a probe */
  throttled(at: Milliseconds, hintMs: Milliseconds | undefined, until: Milliseconds): void;
  describe(): string;
  snapshot(at: Milliseconds): RegimeState;
  /** Continues over a log that was rewritten. */
  restore(state: RegimeState, at: Milliseconds): void;
}

/** What a regime knows beyond the log. */
export interface RegimeState {
  readonly debtMs: Milliseconds;
  readonly learned?: Knobs;
}
