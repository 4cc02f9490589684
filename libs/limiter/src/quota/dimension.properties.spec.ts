import fc from 'fast-check';
import { createDimension } from './create-dimension.js';
import type { Dimension } from './dimension.js';
import { fitted, lives, RUNS, shortLives, specs } from './testing/arbitraries.js';
import { sentTooMuch } from './testing/sent-too-much.js';
import { walk, type Send, type WalkStep } from './testing/walk.js';

describe('a dimension', () => {
  it('property 1: never sends more than its limit in any W + J, nor than its share in any declared q + J', () => {
    fc.assert(
      fc.property(specs, lives, fc.boolean(), (spec, list, presumeSpent) => {
        const walked = fitted(list, spec).map((step) => ({
          ...step,
          refund: spec.shape.kind === 'bucket' ? 0 : step.refund,
        }));
        const { sends } = walk(createDimension(spec, 0, { presumeSpent }), walked, 0);
        expect(sentTooMuch(spec, sends)).toBeUndefined();
      }),
      RUNS,
    );
  });

  it('grants at `earliest`, not before, and what can never fit never', () => {
    fc.assert(
      fc.property(specs, lives, (spec, list) => {
        const dimension = createDimension(spec, 0);
        let now = 0;
        for (const { gapMs, amount, refusedFor } of fitted(list, spec)) {
          now += gapMs;
          if (refusedFor !== undefined) dimension.pause(now + refusedFor);
          const at = dimension.earliest(amount, now);
          if (at === Infinity) continue;
          expect(at).toBeGreaterThanOrEqual(now);
          if (at > now + 1e-3) expect(dimension.fits(amount, Math.max(now, at - 1e-3))).toBe(false);
          expect(dimension.fits(amount, at)).toBe(true);
          now = at;
          dimension.debit(amount, now);
        }
        expect(dimension.earliest(spec.limit + 1, now)).toBe(Infinity);
        expect(dimension.fits(spec.limit + 1, now + 10 * spec.windowMs)).toBe(false);
      }),
      RUNS,
    );
  });

  it('knows what another debit would do to a later one', () => {
    fc.assert(
      fc.property(specs, lives, fc.integer({ min: 1, max: 1000 }), (spec, list, size) => {
        const [one, two] = [createDimension(spec, 0), createDimension(spec, 0)];
        const walked = fitted(list, spec);
        walk(one, walked, 0);
        walk(two, walked, 0);
        const now = walked.reduce((sum, step) => sum + step.gapMs, 0) + spec.windowMs;
        const amount = spec.unit === 'tokens' ? Math.max(1, Math.round((size / 1000) * spec.limit)) : 1;
        const from = one.earliest(1, now);
        if (from === Infinity) return;
        const foretold = one.earliestAfter(1, amount, from);
        two.debit(1, from);
        const real = two.earliest(amount, from);
        // The debit may also be the first after a quiet window, and relax what was learned: that makes nothing later.
        expect(real).toBeLessThanOrEqual(foretold + 1e-3);
        if (JSON.stringify(one.snapshot(from).learned) !== JSON.stringify(two.snapshot(from).learned)) return;
        expect(foretold).toBeCloseTo(real, 3);
      }),
      RUNS,
    );
  });

  it('property 3: asking changes nothing', () => {
    fc.assert(
      fc.property(specs, shortLives, shortLives, (spec, list, questions) => {
        const [asked, silent] = [createDimension(spec, 0), createDimension(spec, 0)];
        const walked = fitted(list, spec);
        let now = 0;
        for (const [index, step] of walked.entries()) {
          now += step.gapMs;
          const question = questions[index % questions.length];
          if (question) ask(asked, question, now);
          walk(asked, [{ ...step, gapMs: 0 }], now);
          walk(silent, [{ ...step, gapMs: 0 }], now);
          expect(asked.room(now)).toBeCloseTo(silent.room(now), 6);
        }
        expect(asked.snapshot(now)).toEqual(silent.snapshot(now));
      }),
      RUNS,
    );
  });

  it('property 13: a clock that stands still, runs backwards or jumps ahead keeps property 1', () => {
    const readings = fc.array(
      fc.record({
        // True time that passes, and the part of it that the clock shows; below zero it runs backwards.
        passed: fc.oneof(fc.integer({ min: 0, max: 2_000 }), fc.constantFrom(70_000, 2 ** 33)),
        shown: fc.oneof(fc.constantFrom(1, 0, -1, -20), fc.double({ min: -1, max: 1, noNaN: true })),
      }),
      { minLength: 20, maxLength: 150 },
    );
    fc.assert(
      fc.property(specs, readings, (spec, list) => {
        const dimension = createDimension(spec, 1e6, { presumeSpent: false });
        const sends: Send[] = [];
        let truth = 1e6;
        let shown = 1e6;
        for (const reading of list) {
          const passed = reading.passed * (spec.windowMs / 60_000);
          truth += passed;
          shown += reading.passed > 1e9 ? passed : passed * reading.shown;
          if (!dimension.fits(1, shown)) continue;
          sends.push({ at: truth, slot: dimension.debit(1, shown), amount: 1 });
        }
        expect(sentTooMuch(spec, sends)).toBeUndefined();
      }),
      RUNS,
    );
  });
});

function ask(dimension: Dimension, { amount, gapMs }: WalkStep, now: number): void {
  for (const at of [now, now + gapMs, now + 1e7, now]) {
    dimension.fits(amount, at);
    dimension.earliest(amount, at);
    dimension.earliestAfter(1, amount, at);
    dimension.room(at);
    dimension.used(at);
    dimension.describe();
  }
}
