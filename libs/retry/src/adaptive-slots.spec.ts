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
    const step = fc.record({ afterMs: fc.nat({ max: 20_000 }), overload: fc.boolean() });
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 200 }),
        fc.integer({ min: 1, max: 500 }),
        (steps, configured) => {
          const slots = new AdaptiveSlots(() => configured, 10_000);
          let now = 0;
          for (const { afterMs, overload } of steps) {
            now += afterMs;
            const before = slots.limit;
            if (overload) slots.overloaded(now);
            else slots.grow(now);
            expect(slots.limit).toBeGreaterThanOrEqual(1);
            expect(slots.limit).toBeLessThanOrEqual(configured);
            if (!overload) expect(slots.limit).toBeGreaterThanOrEqual(before);
          }
        },
      ),
      { numRuns: 1000, seed: 21 },
    );
  });
});
