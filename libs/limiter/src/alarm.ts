import { MAX_TIMER_MS, type Clock, type Milliseconds, type Timer, type Timers } from '@weir/kernel';

/**
 * To wake a process costs more than a grant. So where more than one ring every 5 ms is asked for, a ring waits for what falls
 * due meanwhile; nobody notices, and the pacer tolerates 20 ms, so no rate is lost.
 */
const REST_MS: Milliseconds = 5;
/** A few rings may follow each other at once: only who rings all the time has to rest. */
const CREDIT_MS: Milliseconds = 4 * REST_MS;

/** The one timer: armed for the earliest reason to look again, or not at all. */
export class Alarm {
  private timer: Timer | undefined;
  private setFor: Milliseconds = Infinity;
  /** The reason itself; the timer may be set for later, after a rest. */
  private due: Milliseconds = Infinity;
  /** When it would have rested from all rings, one after the other. */
  private restedAt: Milliseconds = -Infinity;

  constructor(
    private readonly clock: Clock,
    private readonly timers: Timers,
    private readonly ring: (now: Milliseconds) => void,
  ) {}

  /**
   * @param at when to ring; Infinity: as late as a timer can
   * @param deadline what the rest must not come close to
   */
  set(at: Milliseconds, deadline: Milliseconds): void {
    const rested = Math.max(at, this.restedAt - CREDIT_MS);
    this.due = at;
    this.arm(deadline - rested > REST_MS ? rested : at);
  }

  clear(): void {
    this.timer?.cancel();
    this.timer = undefined;
  }

  private arm(at: Milliseconds): void {
    if (this.timer !== undefined && this.setFor === at) return;
    this.timer?.cancel();
    this.setFor = at;
    const delayMs = Math.min(Math.max(0, at - this.clock.now()), MAX_TIMER_MS);
    this.timer = this.timers.after(delayMs, () => {
      this.timer = undefined;
      this.rung();
    });
  }

  /** Timers count in whole milliseconds and may be early by one: nothing is due then, and the rest begins later. */
  private rung(): void {
    const now = this.clock.now();
    if (now < this.due) {
      this.arm(this.due);
      return;
    }
    this.restedAt = Math.max(this.restedAt, now) + REST_MS;
    this.ring(now);
  }
}
