import fc from 'fast-check';
import { createDimension } from './create-dimension.js';
import type { Knobs } from './knobs.js';
import { Learner, MAX_SPREAD_MS, type LearnerRest, type Refusal } from './learner.js';
import { RUNS } from './testing/arbitraries.js';
import { specOf } from './testing/walk.js';

const REST: LearnerRest = {
  windowMs: 60_000,
  delaySpreadMs: 250,
  burst: 6,
  mostBurst: Infinity,
  learnsShape: true,
  middleSizes: 1,
  cellSizes: 1,
  spacesCells: false,
};
const EDGE: Refusal = { at: 0, hintMs: 1_000, limit: 60, windowCount: 60, middleCount: 10, recentCount: 1 };

function learner(rest: Partial<LearnerRest> = {}): Learner {
  return new Learner({ ...REST, ...rest }, 0);
}

/** What the refusals, a minute apart, make of the knobs. */
function after(refusals: readonly Partial<Refusal>[], rest: Partial<LearnerRest> = {}): Knobs {
  const one = learner(rest);
  for (const [index, refusal] of refusals.entries()) one.refused({ ...EDGE, ...refusal, at: index * 60_000 });
  return one.knobs;
}

const refusals = fc.array(
  fc.record({
    gapMs: fc.integer({ min: 0, max: 200_000 }),
    hintMs: fc.constantFrom(0, 500, 1_000, 3_000, 10_000, 60_000),
    windowCount: fc.integer({ min: 0, max: 60 }),
    middleCount: fc.integer({ min: 0, max: 30 }),
    recentCount: fc.integer({ min: 0, max: 10 }),
    wantsBurst: fc.boolean(),
  }),
  { maxLength: 60 },
);
const rests = fc.record({
  windowMs: fc.constantFrom(6_000, 60_000),
  delaySpreadMs: fc.constantFrom(5, 250, 3_000),
  burst: fc.constantFrom(1, 6, 60),
  mostBurst: fc.constantFrom(60, Infinity),
  learnsShape: fc.boolean(),
  middleSizes: fc.constantFrom(1, 2),
  cellSizes: fc.constantFrom(0, 1, 2),
  spacesCells: fc.boolean(),
});

describe('the learner', () => {
  it('property 19: each knob stays within its bounds, and all but the shape return to rest when nothing is refused', () => {
    fc.assert(
      fc.property(rests, refusals, (rest, list) => {
        const one = learner(rest);
        let now = 0;
        for (const { gapMs, wantsBurst, ...refusal } of list) {
          now += gapMs;
          one.refused({ ...refusal, limit: 60, at: now });
          if (now + gapMs >= one.nextReview) one.review(now + gapMs, 60, wantsBurst);
          const { delaySpreadMs, burst, quotaFactor } = one.knobs;
          expect(delaySpreadMs).toBeGreaterThanOrEqual(rest.delaySpreadMs);
          expect(delaySpreadMs).toBeLessThanOrEqual(Math.max(MAX_SPREAD_MS, rest.delaySpreadMs));
          expect(burst).toBeGreaterThanOrEqual(1);
          expect(burst).toBeLessThanOrEqual(60);
          expect(quotaFactor).toBeGreaterThanOrEqual(0.5);
          expect(quotaFactor).toBeLessThanOrEqual(1);
        }
        for (let minute = 1; minute < 300; minute += 1) one.review(now + minute * rest.windowMs, 60, false);
        const { delaySpreadMs, burst, quotaFactor } = one.knobs;
        expect({ delaySpreadMs, burst, quotaFactor }).toEqual({
          delaySpreadMs: rest.delaySpreadMs,
          burst: rest.burst,
          quotaFactor: 1,
        });
      }),
      RUNS,
    );
  });

  it('property 19: several 429s in flight together move a knob once', () => {
    const inFlight = fc.array(fc.integer({ min: 0, max: 1_499 }), { maxLength: 20 });
    fc.assert(
      fc.property(
        inFlight,
        fc.constantFrom(1, 6),
        fc.constantFrom(0, 1_000, 5_000),
        (delays, recentCount, hintMs) => {
          const one = learner();
          const first: Refusal = { ...EDGE, hintMs, recentCount, middleCount: 20 };
          expect(one.refused(first)).toBe(true);
          const moved = one.knobs;
          for (const at of delays.sort((a, b) => a - b)) expect(one.refused({ ...first, at })).toBe(false);
          expect(one.knobs).toEqual(moved);
        },
      ),
      RUNS,
    );
  });

  it('moves the knob that was tight', () => {
    expect(after([{}])).toMatchObject({ delaySpreadMs: 400, cells: { kind: 'off' } });
    expect(after([{}, {}])).toMatchObject({ delaySpreadMs: 400, cells: { kind: 'locked', shifts: 0 } });
    expect(after([{ recentCount: 6 }])).toMatchObject({ burst: 3, delaySpreadMs: 250 });
    expect(after([{ hintMs: 7_000, middleCount: 12 }])).toMatchObject({
      middleGuard: 1,
      delaySpreadMs: 250,
    });
    expect(after([{ hintMs: 30_000 }])).toMatchObject({ quotaFactor: 0.95, delaySpreadMs: 250 });
    expect(after([{ windowCount: 30 }])).toMatchObject({ cells: { kind: 'locked' }, delaySpreadMs: 250 });
  });

  it('shifts the cells, then spaces them, then gives them up', () => {
    const many = (count: number) => Array<Partial<Refusal>>(count).fill({ windowCount: 20 });
    expect(after(many(5)).cells).toEqual({ kind: 'locked', shifts: 4, size: 0 });
    expect(after(many(6)).cells).toEqual({ kind: 'spaced' });
    expect(after(many(7))).toMatchObject({ cells: { kind: 'given_up' }, quotaFactor: 1 });
    expect(after(many(8))).toMatchObject({ cells: { kind: 'given_up' }, quotaFactor: 0.95 });
  });

  it('looks for a phase from the start where the cells began anew', () => {
    const begun = { windowCount: 20, cellsBeganAnew: true };
    expect(after([...Array<typeof begun>(9).fill(begun), { windowCount: 20 }]).cells).toEqual({
      kind: 'locked',
      shifts: 2,
      size: 0,
    });
  });

  it.each([
    { refusals: 3, learned: 'phase-locked cells' },
    { refusals: 6, learned: 'spaced cells' },
  ])('never lets more leave at once than a person allows: $learned', ({ refusals, learned }) => {
    const spec = specOf({ shape: { kind: 'unknown' }, limit: 600, burst: 1 });
    const dimension = createDimension(spec, 0, { presumeSpent: false });
    for (let count = 1; count <= refusals; count += 1) {
      dimension.debit(1, dimension.earliest(1, count * 2_000));
      dimension.throttled(count * 2_000 + 50, 1_000);
    }
    expect(dimension.describe()).toContain(learned);
    for (let now = 30_000; now < 120_000; now += 437) {
      if (!dimension.fits(1, now)) continue;
      dimension.debit(1, now);
      expect(dimension.fits(1, now)).toBe(false);
    }
  });

  it('does not take a pause for a want of burst', () => {
    const spec = specOf({ shape: { kind: 'unknown' }, limit: 600 });
    const dimension = createDimension(spec, 0, { presumeSpent: false });
    dimension.pause(65_000);
    dimension.throttled(0, 60_000);
    for (let now = dimension.earliest(1, 0); now < 180_000; now = dimension.earliest(1, now)) {
      dimension.debit(1, now);
      expect(dimension.describe()).not.toContain('burst');
    }
  });

  it('keeps cells through a day of load that comes and goes', () => {
    const dimension = createDimension(specOf({ shape: { kind: 'unknown' } }), 0, { presumeSpent: false });
    for (let hour = 0; hour < 24; hour += 1) {
      const at = dimension.earliest(1, hour * 3_600_000);
      dimension.debit(1, at);
      dimension.throttled(at + 50, 1_000);
    }
    expect(dimension.describe()).toContain('phase-locked cells');
  });

  it('finds out that no phase is good, though each pause is longer than sixty cells', () => {
    const spec = specOf({ shape: { kind: 'unknown' }, windowMs: 1_000, delaySpreadMs: 4 });
    const dimension = createDimension(spec, 0, { presumeSpent: false });
    let now = 0;
    for (let count = 0; count < 6; count += 1) {
      dimension.debit(1, (now = dimension.earliest(1, now)));
      dimension.pause((now += 5) + 2_000);
      dimension.throttled(now, 1_000);
    }
    expect(dimension.describe()).toContain('spaced cells');
  });

  it('tries cells of each size before it spaces them, and longer ones before smaller ones', () => {
    const many = (count: number, middleCount: number) =>
      Array<Partial<Refusal>>(count).fill({ windowCount: 20, middleCount });
    const sizes = { cellSizes: 2 };
    expect(after(many(6, 10), sizes).cells).toEqual({ kind: 'locked', shifts: 0, size: 1 });
    expect(after(many(11, 10), sizes).cells).toEqual({ kind: 'spaced' });
    expect(after(many(6, 11), sizes)).toMatchObject({ middleGuard: 1, cells: { kind: 'off' } });
    expect(after(many(12, 11), sizes)).toMatchObject({
      middleGuard: 1,
      cells: { kind: 'locked', shifts: 0, size: 1 },
    });
  });

  it('keeps a sixth more strictly where it is refused again', () => {
    const middling = { hintMs: 7_000, middleCount: 12 };
    expect(after([middling, middling], { middleSizes: 2 })).toMatchObject({ middleGuard: 2, quotaFactor: 1 });
    expect(after([middling, middling])).toMatchObject({ middleGuard: 1, quotaFactor: 0.95 });
  });

  it('spaces cells at once where that costs next to nothing', () => {
    expect(after([{ windowCount: 20 }], { spacesCells: true }).cells).toEqual({ kind: 'spaced' });
  });

  it('tries after an hour of quiet what costs less of the limit, and one refusal takes that back', () => {
    const hourLater = (knobs: Partial<Knobs>, rest: Partial<LearnerRest> = {}): Learner => {
      const one = learner({ middleSizes: 2, cellSizes: 2, ...rest });
      one.resume({ ...one.knobs, ...knobs });
      for (let minute = 1; minute <= 60; minute += 1) one.review(minute * 60_000, 60, false);
      return one;
    };
    const small = { kind: 'locked', shifts: 2, size: 1 } as const;
    const smaller = hourLater({ middleGuard: 2, cells: small });
    expect(smaller.knobs).toMatchObject({ middleGuard: 1, cells: { shifts: 4, size: 0 } });
    smaller.refused({ ...EDGE, at: 4e6, windowCount: 20 });
    expect(smaller.knobs).toMatchObject({ middleGuard: 1, cells: { shifts: 0, size: 1 } });
    expect(hourLater({ middleGuard: 1, cells: { ...small, size: 0 } }).knobs).toMatchObject({
      middleGuard: 1,
      cells: { shifts: 2, size: 0 },
    });
    expect(hourLater({ cells: { kind: 'spaced' } }).knobs.cells).toEqual({
      kind: 'locked',
      shifts: 4,
      size: 1,
    });
    expect(hourLater({ cells: { kind: 'spaced' } }, { spacesCells: true }).knobs.cells.kind).toBe('spaced');
  });

  it('keeps to the sizes that there are, also where an earlier process knew others', () => {
    const one = learner();
    one.resume({ ...one.knobs, middleGuard: 2, cells: { kind: 'locked', shifts: 3, size: 1 } });
    expect(one.knobs).toMatchObject({ middleGuard: 1, cells: { kind: 'locked', shifts: 3, size: 0 } });
  });

  it('keeps to the sizes that a new limit has', () => {
    const one = learner({ middleSizes: 2, cellSizes: 2 });
    one.resume({ ...one.knobs, middleGuard: 2, cells: { kind: 'locked', shifts: 3, size: 1 } });
    one.relimit({ burst: 6, middleSizes: 1, cellSizes: 1, spacesCells: false });
    expect(one.knobs).toMatchObject({ middleGuard: 1, cells: { kind: 'locked', shifts: 3, size: 0 } });
  });

  it('locks cells that a far higher limit makes dear to space', () => {
    const one = learner({ spacesCells: true });
    one.resume({ ...one.knobs, cells: { kind: 'spaced' } });
    one.relimit({ burst: 6, middleSizes: 1, cellSizes: 1, spacesCells: true });
    expect(one.knobs.cells).toEqual({ kind: 'spaced' });
    one.relimit({ burst: 60, middleSizes: 1, cellSizes: 1, spacesCells: false });
    expect(one.knobs.cells).toEqual({ kind: 'locked', shifts: 0, size: 0 });
  });

  it.each([
    { of: 'a wider spread', rest: { delaySpreadMs: 1_000 }, knobs: { delaySpreadMs: 1_000, middleGuard: 1 } },
    { of: 'a shape', rest: { learnsShape: false }, knobs: { middleGuard: 0, cells: { kind: 'off' } } },
    { of: 'a spread that no cell fits', rest: { cellSizes: 0 }, knobs: { cells: { kind: 'off' } } },
  ])('resumes nothing that contradicts what is declared now: $of', ({ rest, knobs }) => {
    const one = learner(rest);
    one.resume({ ...one.knobs, delaySpreadMs: 400, middleGuard: 1, cells: { kind: 'spaced' } });
    expect(one.knobs).toMatchObject(knobs);
    one.resume({ ...one.knobs, delaySpreadMs: 5_000 });
    expect(one.knobs.delaySpreadMs).toBe(MAX_SPREAD_MS);
  });

  it('believes a declared shape: only the delay spread and the quota move', () => {
    const declared = { learnsShape: false };
    expect(after([{ recentCount: 6, middleCount: 20 }], declared)).toMatchObject({
      delaySpreadMs: 400,
      burst: 6,
    });
    expect(after([{ hintMs: 7_000, middleCount: 20 }], declared)).toMatchObject({
      middleGuard: 0,
      quotaFactor: 0.95,
    });
    expect(after([{}, {}, {}, {}], declared)).toMatchObject({ cells: { kind: 'off' }, quotaFactor: 0.95 });
  });

  it('grows the burst while a minute is clean and the pacer was what held requests back', () => {
    const one = learner();
    for (let minute = 1; minute <= 5; minute += 1) one.review(minute * 60_000, 60, true);
    expect(one.knobs.burst).toBe(11);
    one.refused({ ...EDGE, at: 400_000, recentCount: 11 });
    expect(one.knobs.burst).toBe(5.5);
    for (let minute = 8; minute <= 20; minute += 1) one.review(minute * 60_000, 60, true);
    expect(one.knobs.burst).toBe(5.5);
  });

  it('never lets more leave at once than a person set', () => {
    const one = learner({ burst: 2, mostBurst: 2 });
    for (let minute = 1; minute <= 5; minute += 1) one.review(minute * 60_000, 60, true);
    expect(one.knobs.burst).toBe(2);
    one.resume({ ...one.knobs, burst: 30 });
    expect(one.knobs.burst).toBe(2);
  });

  it('has nothing to learn where there is no limit', () => {
    const dimension = createDimension(specOf({ shape: { kind: 'unknown' }, limit: Infinity }), 0);
    for (let minute = 0; minute < 5; minute += 1) dimension.debit(1, minute * 61_000);
    dimension.throttled(400_000, 30_000);
    expect(dimension.describe()).toBe('unknown');
    expect(dimension.fits(1, 400_000)).toBe(true);
  });

  it('forgets burst and quota factor with a limit that is stated anew', () => {
    const dimension = createDimension(specOf({ shape: { kind: 'unknown' } }), 0);
    dimension.throttled(1_000, 30_000);
    expect(dimension.describe()).toBe('unknown: 95 % of the limit');
    dimension.setLimit(60, 2_000);
    expect(dimension.describe()).toBe('unknown: 95 % of the limit');
    dimension.setLimit(100, 2_000);
    expect(dimension.describe()).toBe('unknown');
    expect(dimension.limit).toBe(100);
  });
});
