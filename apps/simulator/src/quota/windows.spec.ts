import fc from 'fast-check';
import { buildWindow, type Shape } from './shape.js';
import { SlidingWindow } from './sliding-window.js';
import type { QuotaWindow } from './window.js';

const SEED = { seed: 20260101, numRuns: 300 };
const WINDOW_MS = 6000;
const LIMIT = 12;

interface Arrival {
  readonly at: number;
  readonly cost: number;
}

const arrivals = (maxCost: number): fc.Arbitrary<Arrival[]> =>
  fc
    .array(fc.record({ gap: fc.nat(900), cost: fc.integer({ min: 1, max: maxCost }) }), { maxLength: 120 })
    .map((steps) => {
      let at = 1000;
      return steps.map(({ gap, cost }) => ({ at: (at += gap), cost }));
    });

/** Takes what fits, as a provider does, and returns it. */
function admitted(window: QuotaWindow, calls: readonly Arrival[]): Arrival[] {
  return calls.filter(({ at, cost }) => {
    if (window.waitMs(cost, at) > 0) return false;
    window.take(cost, at);
    return true;
  });
}

function sum(calls: readonly Arrival[]): number {
  return calls.reduce((total, { cost }) => total + cost, 0);
}

/** Not as `Shape`: lint takes `fixed` for the method of a string. */
const fixedAt = (seconds: number): Exclude<Shape, string> => ({ fixed: seconds });

const SHAPES: readonly Shape[] = [
  'sliding',
  'fixed',
  fixedAt(1.7),
  { bucket: 5 },
  { quantum: 1 },
  { quantum: 0.25 },
];

describe.each(SHAPES)('a window of shape %j', (shape) => {
  const build = (): QuotaWindow => buildWindow(shape, 'requests', LIMIT, WINDOW_MS);

  it('admits a refused call once the wait it was told is over, and not a millisecond before', () => {
    fc.assert(
      fc.property(arrivals(2), fc.integer({ min: 1, max: 2 }), (calls, cost) => {
        const window = build();
        admitted(window, calls);
        const now = calls.at(-1)?.at ?? 1000;
        const wait = window.waitMs(cost, now);
        if (wait === 0 || wait === Infinity) return;
        const early = now + wait - 1;
        if (early >= now) expect(window.waitMs(cost, early)).toBeGreaterThan(0);
        expect(window.waitMs(cost, now + wait)).toBeLessThanOrEqual(1e-6);
      }),
      SEED,
    );
  });

  it('is whole again after the reset that it tells', () => {
    fc.assert(
      fc.property(arrivals(2), (calls) => {
        const window = build();
        admitted(window, calls);
        const now = calls.at(-1)?.at ?? 1000;
        expect(window.room(now + window.resetMs(now))).toBeCloseTo(1, 6);
      }),
      SEED,
    );
  });

  it('gives back what an amended charge did not use, and nothing twice', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 5 }), fc.nat(100), (cost, later) => {
        const window = buildWindow(shape, 'tokens', 6000, WINDOW_MS);
        const charge = window.take(cost * 10, 1000);
        charge.amend(10, 1000 + later);
        const untouched = buildWindow(shape, 'tokens', 6000, WINDOW_MS);
        untouched.take(10, 1000);
        expect(window.room(1000 + later)).toBeGreaterThanOrEqual(untouched.room(1000 + later) - 1e-9);
        const room = window.room(1000 + later);
        charge.amend(10, 1000 + later);
        expect(window.room(1000 + later)).toBe(room);
      }),
      SEED,
    );
  });

  it('never admits what is more than it holds', () => {
    expect(build().waitMs(LIMIT + 1, 1000)).toBe(Infinity);
  });

  it('stops at a limit of 0', () => {
    const window = build();
    window.retune(0, 1000);
    expect(window.waitMs(20, 1000)).toBe(Infinity);
  });
});

describe('a sliding window', () => {
  it('never holds more than its limit in any window, and refuses nothing that would fit', () => {
    fc.assert(
      fc.property(arrivals(4), (calls) => {
        const taken = admitted(new SlidingWindow(LIMIT, WINDOW_MS), calls);
        const inWindow = (end: number): number =>
          sum(taken.filter(({ at }) => at > end - WINDOW_MS && at <= end));
        for (const { at } of taken) expect(inWindow(at)).toBeLessThanOrEqual(LIMIT);
        for (const call of calls.filter((other) => !taken.includes(other))) {
          const before = taken.filter(({ at }) => at > call.at - WINDOW_MS && at <= call.at);
          expect(sum(before) + call.cost).toBeGreaterThan(LIMIT);
        }
      }),
      SEED,
    );
  });

  it('counts a charge until just before its window is over', () => {
    const window = new SlidingWindow(1, WINDOW_MS);
    window.take(1, 1000);
    expect(window.waitMs(1, 6999)).toBe(1);
    expect(window.waitMs(1, 7000)).toBe(0);
  });

  it('leaves an amended charge alone once it has left', () => {
    const window = new SlidingWindow(LIMIT, WINDOW_MS);
    const charge = window.take(5, 0);
    window.take(3, 7000);
    charge.amend(1, 7000);
    expect(window.used(7000)).toBe(3);
  });

  it('stays full while it is hammered, in bounded memory', () => {
    const window = new SlidingWindow(3, WINDOW_MS);
    for (let at = 0; at < 100_000; at++) window.penalise(1, at);
    expect(window.used(100_000)).toBe(3);
    expect(window.waitMs(1, 100_000)).toBe(99_997 + WINDOW_MS - 100_000);
  });
});

describe('a fixed window', () => {
  it('holds its limit between two edges, whatever the phase', () => {
    fc.assert(
      fc.property(arrivals(4), fc.nat(20_000), (calls, phase) => {
        const window = buildWindow(fixedAt(phase / 1000), 'requests', LIMIT, WINDOW_MS);
        const cells = new Map<number, number>();
        for (const { at, cost } of admitted(window, calls)) {
          const cell = Math.floor((at - phase) / WINDOW_MS);
          cells.set(cell, (cells.get(cell) ?? 0) + cost);
        }
        expect(Math.max(0, ...cells.values())).toBeLessThanOrEqual(LIMIT);
      }),
      SEED,
    );
  });

  it('admits twice its limit around an edge', () => {
    const calls = Array.from({ length: 2 * LIMIT }, (_, index) => ({
      at: index < LIMIT ? 5999 : 6000,
      cost: 1,
    }));
    expect(admitted(buildWindow('fixed', 'requests', LIMIT, WINDOW_MS), calls)).toHaveLength(2 * LIMIT);
  });
});

describe('a bucket', () => {
  it('lets through its capacity and its refill in any span, and no more', () => {
    fc.assert(
      fc.property(arrivals(3), (calls) => {
        const taken = admitted(buildWindow({ bucket: 5 }, 'requests', LIMIT, WINDOW_MS), calls);
        for (const [index, { at: start }] of taken.entries()) {
          for (let end = index; end < taken.length; end++) {
            const span = taken.slice(index, end + 1);
            const passed = (span.at(-1)?.at ?? start) - start;
            expect(sum(span)).toBeLessThanOrEqual(5 + (passed * LIMIT) / WINDOW_MS + 1e-6);
          }
        }
      }),
      SEED,
    );
  });

  it('refills evenly: one token after one part of the window', () => {
    const window = buildWindow({ bucket: 5 }, 'requests', LIMIT, WINDOW_MS);
    for (let n = 0; n < 5; n++) window.take(1, 0);
    expect(window.waitMs(1, 0)).toBe(500);
    expect(window.waitMs(1, 500)).toBe(0);
  });

  it('holds the whole limit of tokens: a capacity is a number of requests', () => {
    expect(buildWindow({ bucket: 5 }, 'tokens', 900, WINDOW_MS).waitMs(900, 0)).toBe(0);
  });

  it('owes nothing after penalties', () => {
    const window = buildWindow({ bucket: 5 }, 'requests', LIMIT, WINDOW_MS);
    for (let n = 0; n < 50; n++) window.penalise(1, 0);
    expect(window.waitMs(1, 0)).toBe(500);
  });
});

describe('quanta', () => {
  it('hold their whole part of the limit each', () => {
    fc.assert(
      fc.property(arrivals(2), (calls) => {
        const cells = new Map<number, number>();
        for (const { at, cost } of admitted(
          buildWindow({ quantum: 1 }, 'requests', LIMIT, WINDOW_MS),
          calls,
        )) {
          const cell = Math.floor(at / 1000);
          cells.set(cell, (cells.get(cell) ?? 0) + cost);
        }
        expect(Math.max(0, ...cells.values())).toBeLessThanOrEqual(2);
      }),
      SEED,
    );
  });

  it('are lengthened where they would hold nothing: 30 a minute in seconds are 1 in 2 seconds', () => {
    const window = buildWindow({ quantum: 1 }, 'requests', 30, 60_000);
    expect(window.waitMs(1, 0)).toBe(0);
    window.take(1, 0);
    expect(window.waitMs(1, 500)).toBe(1500);
  });

  it('divide evenly in spite of floats: 60 a minute are 1 a second', () => {
    const window = buildWindow({ quantum: 1 }, 'requests', 60, 60_000);
    window.take(1, 0);
    expect(window.waitMs(1, 0)).toBe(1000);
  });
});
