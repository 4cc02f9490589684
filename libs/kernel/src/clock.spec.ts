import { MAX_TIMER_MS, systemClock, systemTimers } from './clock.js';

describe('systemTimers', () => {
  it('keeps a wait beyond 2^31 ms instead of firing at once', () => {
    jest.useFakeTimers();
    try {
      const run = jest.fn();
      systemTimers.after(2 ** 31 + 5, run);
      jest.advanceTimersByTime(MAX_TIMER_MS - 1);
      expect(run).not.toHaveBeenCalled();
      jest.advanceTimersByTime(1);
      expect(run).toHaveBeenCalledTimes(1);
    } finally {
      jest.useRealTimers();
    }
  });

  it('never runs what was cancelled', () => {
    jest.useFakeTimers();
    try {
      const run = jest.fn();
      systemTimers.after(10, run).cancel();
      jest.advanceTimersByTime(100);
      expect(run).not.toHaveBeenCalled();
    } finally {
      jest.useRealTimers();
    }
  });
});

describe('systemClock', () => {
  it('never runs backwards', () => {
    const times = Array.from({ length: 1000 }, () => systemClock.now());
    expect(times).toEqual([...times].sort((a, b) => a - b));
  });
});
