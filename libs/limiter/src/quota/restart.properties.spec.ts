import fc from 'fast-check';
import { createDimension } from './create-dimension.js';
import type { Dimension, DimensionSpec, Shape } from './dimension.js';
import { aged, type DimensionState } from './dimension-state.js';
import { fitted, lives, RUNS, specs } from './testing/arbitraries.js';
import { sentTooMuch } from './testing/sent-too-much.js';
import { peak, specOf, walk, type Send } from './testing/walk.js';

const windowShapes = fc.constantFrom<Shape>({ kind: 'unknown' }, { kind: 'sliding' }, { kind: 'fixed' });

/** Sends as fast as it may until then. */
function saturate(dimension: Dimension, from: number, until: number): Send[] {
  const sends: Send[] = [];
  for (let now = dimension.earliest(1, from); now <= until; now = dimension.earliest(1, now)) {
    sends.push({ at: now, slot: dimension.debit(1, now), amount: 1 });
  }
  return sends;
}

function acrossRestart(presumeSpent: boolean): fc.IPropertyWithHooks<unknown> {
  const spec = fc.record({
    shape: windowShapes,
    limit: fc.integer({ min: 2, max: 120 }),
    windowMs: fc.constantFrom(6_000, 60_000),
    delaySpreadMs: fc.constantFrom(0, 50, 250),
  });
  const part = fc.double({ min: 0.1, max: 2, noNaN: true });
  return fc.property(spec, part, part, (partial, lived, down) => {
    const { windowMs } = partial;
    const before = saturate(createDimension(specOf(partial), 0), 0, lived * windowMs);
    const from = (lived + down / 20) * windowMs;
    const after = saturate(createDimension(specOf(partial), from, { presumeSpent }), from, from + windowMs);
    expect(peak([...before, ...after], windowMs)).toBeLessThanOrEqual(partial.limit);
  });
}

describe('a restart', () => {
  it('property 16: a ledger that presumes the last window spent sends no more than N in any W across the restart', () => {
    fc.assert(acrossRestart(true), RUNS);
  });

  it('property 16: fails where the ledger starts empty', () => {
    expect(fc.check(acrossRestart(false), RUNS).failed).toBe(true);
  });

  it('property 16: after a burst it sends at most the rest of that burst too much', () => {
    const [limit, burst] = [60, 6];
    const old = createDimension(specOf({ shape: { kind: 'unknown' }, burst }), 0, { presumeSpent: false });
    const before = saturate(old, 0, 0);
    const after = saturate(createDimension(specOf({ shape: { kind: 'unknown' } }), 1), 1, 60_000);
    expect(before).toHaveLength(burst);
    expect(peak([...before, ...after], 60_000)).toBeLessThan(limit + burst);
  });

  it('property 16: a snapshot, carried over as JSON, keeps property 1 over the restart', () => {
    fc.assert(
      fc.property(specs, lives, lives, fc.integer({ min: 0, max: 5_000 }), (spec, list, later, downMs) => {
        const first = createDimension(spec, 0, { presumeSpent: false });
        const noRefunds = (life: typeof list) => fitted(life, spec).map((step) => ({ ...step, refund: 0 }));
        const { sends, endedAt } = walk(first, noRefunds(list), 0);
        const state = JSON.parse(JSON.stringify(first.snapshot(endedAt))) as DimensionState;
        // The new process has another monotonic clock; here it is the old one, to compare.
        const from = endedAt + downMs;
        const second = createDimension(spec, from);
        second.restore(aged(state, downMs), from);
        const { sends: more } = walk(second, noRefunds(later), from);
        expect(sentTooMuch(spec, [...sends, ...more])).toBeUndefined();
      }),
      RUNS,
    );
  });

  it('restores what was learned, unless it was about another limit', () => {
    const spec = specOf({ shape: { kind: 'unknown' } });
    const learnt = createDimension(spec, 0);
    learnt.throttled(30_000, 1_000);
    const learned = learnt.describe();
    expect(learned).not.toBe('unknown');
    const restored = (limit: number): string => {
      const dimension = createDimension({ ...spec, limit }, 0);
      dimension.restore(learnt.snapshot(31_000), 0);
      return dimension.describe();
    };
    expect(restored(60)).toBe(learned);
    expect(restored(50)).toBe('unknown');
  });

  it('restores a pause, and slots as free', () => {
    const spec: DimensionSpec = { ...specOf({ shape: { kind: 'unknown' }, limit: 2 }), unit: 'slots' };
    const dimension = createDimension(spec, 0);
    dimension.debit(1, 0);
    dimension.pause(5_000);
    const restored = createDimension(spec, 100);
    restored.restore(aged(dimension.snapshot(1_000), 1_000), 100);
    expect(restored.pausedUntil).toBe(3_100);
    expect(restored.used(100)).toBe(0);
  });
});
