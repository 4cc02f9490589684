import fc from 'fast-check';
import { FakeClock } from '@weir/testing';
import { RetryBudget } from './retry-budget.js';

describe('RetryBudget', () => {
  it('property 21 (budget): in any window retries <= ratio x first attempts + floor', () => {
    const step = fc.record({ afterMs: fc.integer({ min: 0, max: 3000 }), retry: fc.boolean() });
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 200 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 0, max: 5 }),
        (steps, ratio, floor) => {
          const clock = new FakeClock();
          const budget = new RetryBudget(clock, { ratio, floor, windowMs: 10_000 });
          const firsts: number[] = [];
          const retries: number[] = [];
          for (const { afterMs, retry } of steps) {
            clock.jump(clock.now() + afterMs);
            if (!retry) {
              budget.recordFirst();
              firsts.push(clock.now());
            } else if (budget.trySpend()) {
              retries.push(clock.now());
            }
          }
          const within = (times: number[], end: number) =>
            times.filter((t) => t > end - 10_000 && t <= end).length;
          for (const end of retries) {
            expect(within(retries, end)).toBeLessThanOrEqual(ratio * within(firsts, end) + floor + 1e-9);
          }
        },
      ),
      { numRuns: 1000, seed: 21 },
    );
  });

  it('lets an idle account retry, up to the floor, and again after a window', () => {
    const clock = new FakeClock();
    const budget = new RetryBudget(clock, { ratio: 0.1, floor: 2, windowMs: 10_000 });
    expect([budget.trySpend(), budget.trySpend(), budget.trySpend()]).toEqual([true, true, false]);
    clock.jump(11_000);
    expect(budget.trySpend()).toBe(true);
  });
});
