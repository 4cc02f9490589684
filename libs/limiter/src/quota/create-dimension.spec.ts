import { createDimension } from './create-dimension.js';
import type { Dimension, DimensionSpec } from './dimension.js';
import { specOf } from './testing/walk.js';

const DAY = 86_400_000;
const fresh = { presumeSpent: false };

function grants(dimension: Dimension, from: number, count: number): number[] {
  const times: number[] = [];
  let now = from;
  for (let each = 0; each < count; each += 1) {
    now = dimension.earliest(1, now);
    dimension.debit(1, now);
    times.push(now);
  }
  return times;
}

describe('createDimension', () => {
  it('starts at full rate, without a burst, as if the last window had been spent', () => {
    const dimension = createDimension(specOf({ shape: { kind: 'unknown' } }), 1_000_000);
    const times = grants(dimension, 1_000_000, 10);
    expect(times[0]).toBeGreaterThan(1_000_900);
    expect(times[9]).toBeGreaterThan(1_009_500);
    expect(times[9]).toBeLessThan(1_010_500);
  });

  it('lets a tenth of the requests leave at once, then paces', () => {
    const dimension = createDimension(specOf({ shape: { kind: 'unknown' } }), 0, fresh);
    const times = grants(dimension, 0, 8);
    expect(times.filter((at) => at === 0)).toHaveLength(6);
    expect(times[7]).toBeGreaterThan(1_900);
  });

  it('paces a million tokens a minute without rounding, and admits a request as large as the limit', () => {
    const spec = specOf({ shape: { kind: 'unknown' }, unit: 'tokens', limit: 1_000_000 });
    const dimension = createDimension(spec, 0, fresh);
    expect(dimension.fits(1_000_000, 0)).toBe(true);
    dimension.debit(250_000, 0);
    expect(dimension.earliest(1_000, 0)).toBeCloseTo(60 - 20, 0);
    expect(dimension.earliest(1_000_000, 0)).toBeGreaterThan(60_000);
    expect(dimension.earliest(1_000_001, 0)).toBe(Infinity);
  });

  it('keeps no more than N in W + J while bursts are allowed up to N', () => {
    const dimension = createDimension(specOf({ shape: { kind: 'sliding' }, burst: 60 }), 0, fresh);
    const times = grants(dimension, 0, 61);
    expect(times[59]).toBe(0);
    expect(times[60]).toBeGreaterThanOrEqual(60_250);
    expect(times[60]).toBeLessThan(60_400);
  });

  it.each([10, 1_000_000])(
    'is closed for a window, and no longer, by an answer that cost %i times the limit',
    (times) => {
      const spec = specOf({ shape: { kind: 'unknown' }, unit: 'tokens', limit: 1_000 });
      const dimension = createDimension(spec, 0, fresh);
      const slot = dimension.debit(100, 0);
      dimension.correct(slot, times * 1_000, 5_000);
      expect(dimension.earliest(1, 5_000)).toBeGreaterThanOrEqual(60_000);
      expect(dimension.earliest(1, 5_000)).toBeLessThanOrEqual(65_000);
    },
  );

  it('mirrors a declared bucket: its capacity at once, then its rate, each refill a delay spread late', () => {
    const dimension = createDimension(specOf({ shape: { kind: 'bucket', capacity: 10 } }), 0, fresh);
    const times = grants(dimension, 0, 12);
    expect(times.filter((at) => at < 1)).toHaveLength(9);
    expect(times[11]).toBeCloseTo(2_250, 0);
    expect(createDimension(dimension.spec, 0, fresh).earliest(11, 0)).toBe(Infinity);
  });

  it('spaces a declared quantum by q + J, and waits where a quantum would hold less than one', () => {
    const quantum = specOf({ shape: { kind: 'quantum', quantumMs: 1_000 } });
    const times = grants(createDimension(quantum, 0, fresh), 0, 3);
    expect(times[2]).toBeGreaterThanOrEqual(2_500);
    expect(times[2]).toBeLessThan(2_700);
    expect(grants(createDimension({ ...quantum, limit: 30 }, 0, fresh), 0, 2)[1]).toBeGreaterThan(1_250);
  });

  it('holds slots until they are freed, and time alone frees none', () => {
    const spec: DimensionSpec = { ...specOf({ shape: { kind: 'unknown' }, limit: 2 }), unit: 'slots' };
    const dimension = createDimension(spec, 0);
    const slot = dimension.debit(1, 0);
    expect(dimension.earliestAfter(1, 1, 0)).toBe(Infinity);
    dimension.debit(1, 0);
    expect(dimension.fits(1, DAY)).toBe(false);
    expect(dimension.earliest(1, DAY)).toBe(Infinity);
    dimension.correct(slot, -1, DAY);
    expect(dimension.earliest(1, DAY)).toBe(DAY);
    expect(dimension.used(DAY)).toBe(1);
    dimension.correct(slot, -1, DAY);
    dimension.correct(slot, -1, DAY);
    expect(dimension.used(DAY)).toBe(0);
  });

  it('keeps a quota of a day as a plain sum: unpaced, not presumed spent, back after a day', () => {
    const spec = specOf({
      shape: { kind: 'unknown' },
      unit: 'requests_per_day',
      limit: 1_000,
      windowMs: DAY,
    });
    const dimension = createDimension(spec, 0);
    for (let count = 0; count < 1_000; count += 1) {
      expect(dimension.fits(1, 0)).toBe(true);
      dimension.debit(1, 0);
    }
    const back = dimension.earliest(1, 1);
    expect(back).toBeGreaterThanOrEqual(DAY);
    expect(back).toBeLessThan(DAY * 1.002);
    dimension.throttled(1, 3_600_000);
    expect(dimension.describe()).toBe('unknown');
  });

  it('is never open at limit zero and always at infinity', () => {
    const closed = createDimension(specOf({ shape: { kind: 'bucket', capacity: 5 }, limit: 0 }), 0);
    expect(closed.fits(1, DAY)).toBe(false);
    expect(closed.room(DAY)).toBe(0);
    closed.setLimit(60, DAY);
    expect(closed.earliest(1, DAY)).toBeLessThan(DAY + 5_000);
    const open = createDimension(specOf({ shape: { kind: 'unknown' }, limit: Infinity }), 0);
    for (let count = 0; count < 100; count += 1) open.debit(1e9, 0);
    expect(open.fits(1e12, 0)).toBe(true);
    expect(open.room(0)).toBe(Infinity);
    open.setLimit(60, 1);
    expect(open.earliest(1, 1)).toBeGreaterThan(60_000);
  });

  it('works with windows of half a second', () => {
    const spec = specOf({ shape: { kind: 'unknown' }, windowMs: 500, limit: 60, delaySpreadMs: 5 });
    const times = grants(createDimension(spec, 0, fresh), 0, 200);
    expect(times[199]).toBeGreaterThan(((200 - 60) / 60) * 500);
    expect(times[199]).toBeLessThan((200 / 60) * 510);
  });
});
