import { FakeClock } from '@weir/testing';
import { Alarm } from './alarm.js';

/** An alarm that is asked for again `everyMs` after each ring, and when it rang. */
function ringing(everyMs: number, deadline = Infinity): { clock: FakeClock; rings: number[]; alarm: Alarm } {
  const clock = new FakeClock();
  const rings: number[] = [];
  const alarm = new Alarm(clock, clock, (now) => {
    rings.push(now);
    alarm.set(now + everyMs, deadline);
  });
  alarm.set(everyMs, deadline);
  return { clock, rings, alarm };
}

describe('alarm', () => {
  it('rings on time, as long as it is not asked for all the time', async () => {
    const { clock, rings } = ringing(5);
    await clock.advance(100);
    expect(rings).toEqual(Array.from({ length: 20 }, (_, n) => 5 * (n + 1)));
  });

  it('rests between rings where it is, and then rings for several reasons together', async () => {
    const { clock, rings } = ringing(0.5);
    await clock.advance(1_000);
    expect(rings.slice(0, 4)).toEqual([0.5, 1, 1.5, 2]);
    const gaps = rings.slice(10).map((at, n) => at - (rings[n + 9] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThan(4);
    expect(Math.max(...gaps)).toBeLessThan(6);
  });

  it('does not rest beyond a deadline, nor close to it', async () => {
    const { clock, rings } = ringing(0.5, 102);
    await clock.advance(102);
    expect(rings.findLast((at) => at <= 102)).toBeGreaterThan(101);
  });

  it('does not ring before anything is due, where a timer is early', async () => {
    const clock = new FakeClock();
    const early = {
      after: (delayMs: number, run: () => void) => clock.after(Math.max(0.1, delayMs - 1), run),
    };
    const rings: number[] = [];
    new Alarm(clock, early, (now) => rings.push(now)).set(10, Infinity);
    await clock.advance(100);
    expect(rings).toHaveLength(1);
    expect(rings[0]).toBeGreaterThanOrEqual(10);
    expect(clock.armed).toBe(0);
  });

  it('has one timer, and none once it is cleared', () => {
    const { clock, alarm } = ringing(10);
    alarm.set(20, Infinity);
    alarm.set(5, 1_000);
    expect(clock.armed).toBe(1);
    expect(clock.nextAt).toBe(5);
    alarm.clear();
    expect(clock.armed).toBe(0);
  });
});
