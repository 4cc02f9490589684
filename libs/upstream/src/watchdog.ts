import type { Clock, Milliseconds, TimeoutPhase, Timer, Timers } from '@weir/kernel';

/** What the watchdog waits for now, and for how long. */
interface Vigil {
  readonly phase: TimeoutPhase;
  readonly limitMs: Milliseconds;
  /** The last sign of life, on the clock. */
  since: Milliseconds;
}

/**
 * The waits of one attempt: one phase at a time, and a total over all of them.
 * A sign of life only notes the time; the timer looks at it when it fires. So a chunk costs one clock reading.
 */
export class Watchdog {
  private vigil: Vigil | undefined;
  private alarm: { readonly at: Milliseconds; readonly timer: Timer } | undefined;
  private readonly total: Timer;
  private paused = false;
  private overdue = false;

  /** @param onExpire called at most once; the watchdog is stopped then */
  constructor(
    private readonly clock: Clock,
    private readonly timers: Timers,
    totalMs: Milliseconds,
    private readonly onExpire: (phase: TimeoutPhase) => void,
  ) {
    this.total = timers.after(totalMs, () => {
      this.expire('total');
    });
  }

  /** Starts to wait for something else; the former wait is over. */
  expect(phase: TimeoutPhase, limitMs: Milliseconds): void {
    const now = this.clock.now();
    this.vigil = { phase, limitMs, since: now };
    this.overdue = false;
    // A look that comes too early sets the next: cheaper than a timer for each phase of each attempt.
    if (this.alarm === undefined || this.alarm.at > now + limitMs) this.arm(now, limitMs);
  }

  /** A sign of life. */
  touch(): void {
    if (this.vigil) this.vigil.since = this.clock.now();
  }

  /** Silence does not count until `resume`: it is the caller who is slow. The total goes on. */
  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
    this.touch();
  }

  stop(): void {
    this.alarm?.timer.cancel();
    this.alarm = undefined;
    this.total.cancel();
    this.vigil = undefined;
  }

  private arm(now: Milliseconds, delayMs: Milliseconds): void {
    this.alarm?.timer.cancel();
    const timer = this.timers.after(delayMs, () => {
      this.alarm = undefined;
      this.look();
    });
    this.alarm = { at: now + delayMs, timer };
  }

  private look(): void {
    const { vigil } = this;
    if (!vigil) return;
    const now = this.clock.now();
    if (this.paused) vigil.since = now;
    const leftMs = vigil.since + vigil.limitMs - now;
    if (leftMs > 0) {
      this.overdue = false;
      this.arm(now, leftMs);
    } else if (this.overdue) this.expire(vigil.phase);
    else {
      // A process that was busy for long finds its timers first and what the socket holds only then: look again.
      this.overdue = true;
      this.arm(now, 0);
    }
  }

  private expire(phase: TimeoutPhase): void {
    this.stop();
    this.onExpire(phase);
  }
}
