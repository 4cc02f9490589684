import type { Milliseconds } from '@weir/kernel';
import { amountOf, correctionOf, type Charge, type Vector } from '../ledger/ledger.js';
import type { Cost } from '../limiter.js';
import type { Dimension } from '../quota/dimension.js';
import { SlotLog } from '../quota/slot-log.js';
import { TINY } from '../quota/gate.js';

/** A window is cut into at least this many slots. What one holds is forgotten when its first instant leaves the window. */
const SLOTS_PER_WINDOW = 32;

/**
 * What one flow or class took of each shared dimension in the window that ends now, never more than it really did.
 * Kept only of grants for which others could have been waiting: what nobody else wanted is no debt.
 */
export class RecentUse {
  private readonly logs: readonly SlotLog[];
  /** Sums as of one instant, below zero where none was asked for: a look asks several times. */
  private readonly sums: Float64Array;
  private summedAt: Milliseconds = NaN;

  /** @param shared rates with a window */
  constructor(
    private readonly shared: Vector,
    now: Milliseconds,
  ) {
    this.logs = shared.map(({ spec }) => new SlotLog(spec.windowMs, windowOf(spec), now, SLOTS_PER_WINDOW));
    this.sums = new Float64Array(shared.length);
  }

  add(cost: Cost, now: Milliseconds): void {
    this.summedAt = NaN;
    this.logs.forEach((log, index) => log.add(log.slotAt(now), this.amount(index, cost)));
  }

  /** An attempt of `madeAt` cost something else than it reserved. */
  correct(cost: Cost, charge: Charge, madeAt: Milliseconds): void {
    this.summedAt = NaN;
    this.shared.forEach(({ spec: { unit } }, index) => {
      const log = this.logs[index];
      const slot = log?.slotAt(madeAt) ?? -Infinity;
      if (log && slot > log.oldest && slot <= log.newest) log.add(slot, correctionOf(unit, cost, charge));
    });
  }

  /** @param index of the dimension among the shared ones */
  of(index: number, now: Milliseconds): number {
    if (now !== this.summedAt) {
      this.sums.fill(-1);
      this.summedAt = now;
    }
    const known = this.sums[index] ?? 0;
    if (known >= 0) return known;
    const [log, from] = this.window(index, now);
    const sum = log?.sum(from, log.newest) ?? 0;
    this.sums[index] = sum;
    return sum;
  }

  /** When less than `level` of the window is left, if nothing is added. */
  below(level: number, index: number, now: Milliseconds): Milliseconds {
    const [log, from] = this.window(index, now);
    const dimension = this.shared[index];
    if (!log || !dimension) return now;
    const excess = log.sum(from, log.newest) - level + TINY;
    return log.startOf(log.reaching(excess, from, log.newest + 1)) + windowOf(dimension.spec);
  }

  private amount(index: number, cost: Cost): number {
    const dimension = this.shared[index];
    return dimension ? amountOf(dimension.spec.unit, cost) : 0;
  }

  private window(index: number, now: Milliseconds): readonly [SlotLog | undefined, number] {
    const [log, dimension] = [this.logs[index], this.shared[index]];
    return log && dimension ? [log, log.slotAt(now - windowOf(dimension.spec)) + 1] : [undefined, 0];
  }
}

function windowOf({ windowMs, delaySpreadMs }: Dimension['spec']): Milliseconds {
  return windowMs + delaySpreadMs;
}
