import type { Milliseconds } from '@weir/kernel';
import { burstOf, isLong } from './defaults.js';
import type { DimensionSpec } from './dimension.js';
import type { Gate } from './gate.js';
import { Pacer } from './pacer.js';
import type { Regime } from './regime.js';
import type { SlotLog } from './slot-log.js';
import { WindowGuard } from './window-guard.js';

/** Window guard and pacer, for every shape that is not a bucket. */
export class WindowRegime implements Regime {
  readonly guard: WindowGuard;
  gates: readonly Gate[];
  private readonly pacer: Pacer | undefined;
  private limit: number;

  constructor(
    private readonly spec: DimensionSpec,
    log: SlotLog,
    now: Milliseconds,
  ) {
    this.limit = spec.limit > 0 ? spec.limit : Infinity;
    this.guard = new WindowGuard(log, spec.windowMs + spec.delaySpreadMs, this.limit);
    this.pacer = isLong(spec)
      ? undefined
      : new Pacer(this.limit, spec.windowMs, burstOf(spec, this.limit), now);
    this.gates = this.pacer ? [this.guard, this.pacer] : [this.guard];
  }

  presumeSpent(at: Milliseconds): void {
    if (this.limit === Infinity) return;
    this.guard.fillEvenly(this.limit, at);
    this.pacer?.empty(at);
  }

  setLimit(limit: number, at: Milliseconds): void {
    this.limit = limit;
    this.guard.setLimit(limit, limit);
    this.pacer?.setRate(limit, this.spec.windowMs, burstOf(this.spec, limit), at);
  }

  debited(): void {
    return;
  }

  throttled(at: Milliseconds): void {
    this.pacer?.empty(at);
  }

  describe(): string {
    return this.spec.shape.kind;
  }
}
