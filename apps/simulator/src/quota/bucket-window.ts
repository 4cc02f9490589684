import type { Milliseconds } from '@weir/kernel';
import type { Charge, QuotaWindow } from './window.js';

/**
 * A bucket that starts full and refills evenly, `limit` in every `windowMs`.
 * In any span of t it lets through at most capacity + limit x t / windowMs.
 */
export class BucketWindow implements QuotaWindow {
  private level: number;
  private filledAt: Milliseconds | undefined;

  constructor(
    private limit: number,
    private readonly windowMs: Milliseconds,
    private readonly capacity: number,
  ) {
    this.level = capacity;
  }

  waitMs(cost: number, now: Milliseconds): Milliseconds {
    if (cost > this.capacity) return Infinity;
    this.fill(now);
    const missing = cost - this.level;
    return missing <= ROUNDING * this.capacity ? 0 : (missing * this.windowMs) / this.limit;
  }

  take(cost: number, now: Milliseconds): Charge {
    this.fill(now);
    this.level -= cost;
    let charged = cost;
    return {
      amend: (amended, at) => {
        this.fill(at);
        this.level = Math.min(this.capacity, this.level + charged - amended);
        charged = amended;
      },
    };
  }

  /** Takes what is there, never more: a bucket does not owe. */
  penalise(cost: number, now: Milliseconds): void {
    this.fill(now);
    this.level = Math.max(Math.min(this.level, 0), this.level - cost);
  }

  room(now: Milliseconds): number {
    this.fill(now);
    return this.capacity > 0 ? Math.max(0, this.level / this.capacity) : 0;
  }

  resetMs(now: Milliseconds): Milliseconds {
    this.fill(now);
    const missing = this.capacity - this.level;
    return missing > 0 ? (missing * this.windowMs) / this.limit : 0;
  }

  retune(limit: number, now: Milliseconds): void {
    this.fill(now);
    this.limit = limit;
  }

  private fill(now: Milliseconds): void {
    const passed = now - (this.filledAt ?? now);
    this.level = Math.min(this.capacity, this.level + (passed * this.limit) / this.windowMs);
    this.filledAt = now;
  }
}

/** Share of the capacity by which sums of floats may be off. */
const ROUNDING = 1e-9;
