import type { Milliseconds } from '@weir/kernel';
import type { Charge, QuotaWindow } from './window.js';

interface Entry {
  readonly at: Milliseconds;
  cost: number;
  inWindow: boolean;
}

/** How many dead entries may stand at the front of the log before it is copied. */
const COMPACT_AT = 1024;

/**
 * The exact log: a charge made at `a` counts from `a` until just before `a + windowMs`, so no window
 * (x, x + windowMs], whatever its phase, holds more than the limit. With an infinite limit it is a meter.
 */
export class SlidingWindow implements QuotaWindow {
  private log: Entry[] = [];
  private first = 0;
  private total = 0;

  constructor(
    private limit: number,
    private readonly windowMs: Milliseconds,
  ) {}

  waitMs(cost: number, now: Milliseconds): Milliseconds {
    if (cost > this.limit) return Infinity;
    let excess = this.used(now) + cost - this.limit;
    for (let index = this.first; excess > 0; index++) {
      const entry = this.log[index];
      if (!entry) return Infinity;
      excess -= entry.cost;
      if (excess <= 0) return entry.at + this.windowMs - now;
    }
    return 0;
  }

  take(cost: number, now: Milliseconds): Charge {
    this.prune(now);
    const entry: Entry = { at: now, cost, inWindow: true };
    this.log.push(entry);
    this.total += cost;
    return {
      amend: (amended, at) => {
        this.prune(at);
        if (!entry.inWindow) return;
        this.total += amended - entry.cost;
        entry.cost = amended;
      },
    };
  }

  /** Keeps no more of the past than the limit asks for: what lies before that cannot matter any more. */
  penalise(cost: number, now: Milliseconds): void {
    this.take(cost, now);
    for (let oldest = this.log[this.first]; oldest; oldest = this.log[this.first]) {
      if (this.total - oldest.cost < this.limit) return;
      this.drop(oldest);
    }
  }

  room(now: Milliseconds): number {
    return this.limit > 0 ? Math.max(0, 1 - this.used(now) / this.limit) : 0;
  }

  resetMs(now: Milliseconds): Milliseconds {
    this.prune(now);
    const newest = this.log.at(-1);
    return newest?.inWindow ? newest.at + this.windowMs - now : 0;
  }

  retune(limit: number): void {
    this.limit = limit;
  }

  /** What the window that ends now holds. */
  used(now: Milliseconds): number {
    this.prune(now);
    return this.total;
  }

  private prune(now: Milliseconds): void {
    for (let oldest = this.log[this.first]; oldest; oldest = this.log[this.first]) {
      if (oldest.at + this.windowMs > now) break;
      this.drop(oldest);
    }
    if (this.first < COMPACT_AT || this.first * 2 < this.log.length) return;
    this.log = this.log.slice(this.first);
    this.first = 0;
  }

  private drop(entry: Entry): void {
    entry.inWindow = false;
    this.total -= entry.cost;
    this.first += 1;
  }
}
