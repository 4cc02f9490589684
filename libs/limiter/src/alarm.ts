import { MAX_TIMER_MS, type Clock, type Milliseconds, type Timer, type Timers } from '@weir/kernel';

/** The one timer: armed for the earliest reason to look again, or not at all. */
export class Alarm {
  private timer: Timer | undefined;
  private setFor: Milliseconds = Infinity;

  constructor(
    private readonly clock: Clock,
    private readonly timers: Timers,
    private readonly ring: () => void,
  ) {}

  /** @param at when to ring; Infinity: as late as a timer can */
  set(at: Milliseconds): void {
    if (this.timer !== undefined && this.setFor === at) return;
    this.timer?.cancel();
    this.setFor = at;
    const delayMs = Math.min(Math.max(0, at - this.clock.now()), MAX_TIMER_MS);
    this.timer = this.timers.after(delayMs, () => {
      this.timer = undefined;
      this.ring();
    });
  }

  clear(): void {
    this.timer?.cancel();
    this.timer = undefined;
  }
}
