import type { Milliseconds } from '@weir/kernel';
import { BucketMirror } from './bucket-mirror.js';
import type { DimensionSpec } from './dimension.js';
import type { Gate } from './gate.js';
import type { Regime, RegimeState } from './regime.js';
import { SlotLog } from './slot-log.js';
import { WindowGuard } from './window-guard.js';

/** A declared `bucket(capacity)`: limit per window is its refill. The guard over the log never refuses. */
export class BucketRegime implements Regime {
  readonly gates: readonly Gate[];
  readonly guard: WindowGuard;
  private readonly mirror: BucketMirror;

  /** @param capacity in the dimension's unit, at the configured limit; it grows and shrinks with the limit */
  constructor(
    private readonly spec: DimensionSpec,
    private readonly capacity: number,
    private readonly log: SlotLog,
    now: Milliseconds,
  ) {
    this.guard = new WindowGuard(log, spec.windowMs + spec.delaySpreadMs, Infinity);
    this.mirror = new BucketMirror(new SlotLog(spec.windowMs, spec.windowMs + spec.delaySpreadMs, now), now);
    this.gates = [this.guard, this.mirror];
    this.setLimit(spec.limit > 0 ? spec.limit : Infinity, now);
  }

  get largest(): number {
    return this.mirror.size;
  }

  setLimit(limit: number, at: Milliseconds): void {
    const { windowMs, delaySpreadMs } = this.spec;
    const scale = limit / this.spec.limit;
    const capacity =
      limit === Infinity ? Infinity : this.capacity * (Number.isFinite(scale) && scale > 0 ? scale : 1);
    this.mirror.setShape(limit / windowMs, Math.max(1, capacity), delaySpreadMs, at);
  }

  presumeSpent(at: Milliseconds): void {
    this.mirror.empty(at);
  }

  debited(): void {
    return;
  }

  /** The provider's bucket was emptier than its mirror: somebody else uses the key, or the clock lied. */
  throttled(_at: Milliseconds, _hintMs: Milliseconds | undefined, until: Milliseconds): void {
    this.mirror.empty(until);
  }

  snapshot(at: Milliseconds): RegimeState {
    return { debtMs: this.mirror.debtMs(at) };
  }

  restore(state: RegimeState, at: Milliseconds): void {
    this.guard.recount(this.log.slotAt(at));
    this.mirror.resume(state.debtMs, at);
  }

  describe(): string {
    return `bucket(${Math.round(this.mirror.size)})`;
  }
}
