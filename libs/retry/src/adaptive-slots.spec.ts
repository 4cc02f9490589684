import fc from 'fast-check';
import { AdaptiveSlots } from './adaptive-slots.js';

describe('AdaptiveSlots', () => {
  it('cuts by a third at most once a second, and gives one back for every calm window', () => {
    const slots = new AdaptiveSlots(() => 20, 10_000);
    slots.overloaded(0);
    slots.overloaded(999);
    expect(slots.limit).toBe(14);
    slots.overloaded(1_000);
    expect(slots.limit).toBe(9);
    slots.grow(10_999);
    expect(slots.limit).toBe(9);
    slots.grow(31_000);
    expect(slots.limit).toBe(12);
    slots.grow(1_000_000);
    expect(slots.limit).toBe(20);
  });

  it('gives one back for every round of answers', () => {
    const slots = new AdaptiveSlots(() => 20, 10_000);
    slots.overloaded(0);
    const answers = (count: number): number => {
      for (let answer = 0; answer < count; answer += 1) slots.answered(1_000);
      return slots.limit;
    };
    expect(answers(13)).toBe(14);
    expect(answers(1)).toBe(15);
    expect(answers(14)).toBe(15);
    expect(answers(1)).toBe(16);
    expect(answers(200)).toBe(20);
  });

  it('is not cut by a few overloads among many answers: one call in a hundred, every five seconds', () => {
    const slots = new AdaptiveSlots(() => 20, 10_000);
    for (let now = 0; now < 600_000; now += 50) {
      if (now % 5_000 === 4_950) slots.overloaded(now);
      else slots.answered(now);
      expect(slots.limit).toBe(20);
    }
  });

  it('is cut by a tenth, and finds its way back while a hundredth goes on', () => {
    const slots = new AdaptiveSlots(() => 20, 10_000);
    for (let now = 0; now < 20_000; now += 50) {
      if (now % 400 === 0) slots.overloaded(now);
      else slots.answered(now);
    }
    expect(slots.limit).toBeLessThan(20);
    for (let now = 20_000; now < 60_000; now += 50) {
      if (now % 5_000 === 4_950) slots.overloaded(now);
      else slots.answered(now);
    }
    expect(slots.limit).toBe(20);
  });

  it('follows a ceiling that moves', () => {
    let configured = 10;
    const slots = new AdaptiveSlots(() => configured, 10_000);
    slots.overloaded(0);
    configured = 4;
    expect(slots.limit).toBe(1);
    configured = 20;
    expect(slots.limit).toBe(17);
  });

  it('property: never below 1, never above what was configured', () => {
    const step = fc.record({
      afterMs: fc.nat({ max: 20_000 }),
      event: fc.constantFrom('overload', 'answer', 'time'),
    });
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 200 }),
        fc.integer({ min: 1, max: 500 }),
        (steps, configured) => {
          const slots = new AdaptiveSlots(() => configured, 10_000);
          let now = 0;
          for (const { afterMs, event } of steps) {
            now += afterMs;
            const before = slots.limit;
            if (event === 'overload') slots.overloaded(now);
            else if (event === 'answer') slots.answered(now);
            else slots.grow(now);
            expect(slots.limit).toBeGreaterThanOrEqual(1);
            expect(slots.limit).toBeLessThanOrEqual(configured);
            if (event !== 'overload') expect(slots.limit).toBeGreaterThanOrEqual(before);
          }
        },
      ),
      { numRuns: 1000, seed: 21 },
    );
  });
});
