import type { EpochMilliseconds, Milliseconds } from './units.js';

/** Where time comes from. Everything that decides by time takes one, so that tests own it. */
export interface Clock {
  /** Monotonic time. Its zero is arbitrary; only differences mean something. */
  now(): Milliseconds;
  /** Civil time, for headers, logs and provider dates only; it may jump. */
  epochNow(): EpochMilliseconds;
}

/** A timer that was set. Cancelling twice, or after it fired, does nothing. */
export interface Timer {
  cancel(): void;
}

/** Where waking up comes from. */
export interface Timers {
  /**
   * Runs `run` once, not before `delayMs` has passed.
   * A delay beyond 2^31 - 1 ms (24.8 days) is clamped to it: Node would fire at once.
   */
  after(delayMs: Milliseconds, run: () => void): Timer;
}

/** The longest delay that a Node timer keeps, in milliseconds. */
export const MAX_TIMER_MS: Milliseconds = 2 ** 31 - 1;

// On the global object it is behind an accessor, which costs as much as the clock itself.
const { performance } = globalThis;

/** The process's own clock. */
export const systemClock: Clock = {
  now: () => performance.now(),
  epochNow: () => Date.now(),
};

/** The process's own timers. They do not keep the process alive longer than its sockets do. */
export const systemTimers: Timers = {
  after(delayMs, run) {
    const handle = setTimeout(run, Math.min(Math.max(0, delayMs), MAX_TIMER_MS));
    return {
      cancel: () => {
        clearTimeout(handle);
      },
    };
  },
};
