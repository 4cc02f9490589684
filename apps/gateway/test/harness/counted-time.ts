import {
  systemClock,
  systemTimers,
  type Clock,
  type EpochMilliseconds,
  type Milliseconds,
  type Timer,
  type Timers,
} from '@weir/kernel';

/** Real time that knows how many of its timers are armed. */
export class CountedTime implements Clock, Timers {
  private readonly open = new Set<Timer>();

  /** Timers that neither rang nor were cancelled. */
  get armed(): number {
    return this.open.size;
  }

  now(): Milliseconds {
    return systemClock.now();
  }

  epochNow(): EpochMilliseconds {
    return systemClock.epochNow();
  }

  after(delayMs: Milliseconds, run: () => void): Timer {
    const inner = systemTimers.after(delayMs, () => {
      this.open.delete(timer);
      run();
    });
    const timer: Timer = {
      cancel: () => {
        this.open.delete(timer);
        inner.cancel();
      },
    };
    this.open.add(timer);
    return timer;
  }
}
