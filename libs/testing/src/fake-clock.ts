import type { Clock, EpochMilliseconds, Milliseconds, Timer, Timers } from '@weir/kernel';

interface Pending {
  readonly at: Milliseconds;
  readonly order: number;
  readonly run: () => void;
}

/** Virtual time: a clock and its timers, moved only by the test. */
export class FakeClock implements Clock, Timers {
  private readonly pending = new Set<Pending>();
  private order = 0;
  /** Timers set since the start, fired or not. */
  timersSet = 0;

  /** @param epochOffset what `epochNow` shows at time zero */
  constructor(
    private time: Milliseconds = 0,
    private readonly epochOffset: EpochMilliseconds = Date.UTC(2026, 0, 1),
  ) {}

  now(): Milliseconds {
    return this.time;
  }

  epochNow(): EpochMilliseconds {
    return this.epochOffset + this.time;
  }

  after(delayMs: Milliseconds, run: () => void): Timer {
    const entry: Pending = { at: this.time + Math.max(0, delayMs), order: this.order++, run };
    this.timersSet += 1;
    this.pending.add(entry);
    return {
      cancel: () => {
        this.pending.delete(entry);
      },
    };
  }

  /** How many timers are armed now. */
  get armed(): number {
    return this.pending.size;
  }

  /** When the next timer fires, or undefined. */
  get nextAt(): Milliseconds | undefined {
    return this.earliest()?.at;
  }

  /** Sets the clock without firing anything: a clock that jumps, stands still or runs backwards. */
  jump(to: Milliseconds): void {
    this.time = to;
  }

  /** Moves on, firing timers in order; after each one, promises settle before the next. */
  async advance(byMs: Milliseconds): Promise<void> {
    const end = this.time + byMs;
    await settled();
    for (let next = this.earliest(); next && next.at <= end; next = this.earliest()) {
      this.pending.delete(next);
      this.time = Math.max(this.time, next.at);
      next.run();
      await settled();
    }
    this.time = Math.max(this.time, end);
    await settled();
  }

  /** Moves on without letting promises run: for pure code under many property runs. */
  advanceSync(byMs: Milliseconds): void {
    const end = this.time + byMs;
    for (let next = this.earliest(); next && next.at <= end; next = this.earliest()) {
      this.pending.delete(next);
      this.time = Math.max(this.time, next.at);
      next.run();
    }
    this.time = Math.max(this.time, end);
  }

  private earliest(): Pending | undefined {
    let best: Pending | undefined;
    for (const entry of this.pending) {
      if (!best || entry.at < best.at || (entry.at === best.at && entry.order < best.order)) best = entry;
    }
    return best;
  }
}

/** Lets every promise that can settle now do so. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
