import fc from 'fast-check';
import { createDimension } from './create-dimension.js';
import type { Dimension } from './dimension.js';
import { fitted, lives, RUNS, specs } from './testing/arbitraries.js';
import { peak, specOf, walk } from './testing/walk.js';

const hints = fc.option(fc.integer({ min: 0, max: 90_000 }), { nil: undefined });

function refusalGivesNothing(make: (spec: Dimension['spec']) => Dimension): fc.IPropertyWithHooks<unknown> {
  return fc.property(
    specs,
    lives,
    hints,
    fc.integer({ min: 0, max: 60_000 }),
    (spec, list, hintMs, laterMs) => {
      const [refused, spared] = [make(spec), make(spec)];
      const walked = fitted(list, spec).map((step) => ({ ...step, refund: 0, refusedFor: undefined }));
      const { endedAt: now } = walk(refused, walked, 0);
      walk(spared, walked, 0);
      refused.throttled(now, hintMs);
      for (const at of [now, now + laterMs * (spec.windowMs / 60_000)]) {
        expect(whole(refused, at)).toBeLessThanOrEqual(whole(spared, at) + 1e-6);
        expect(refused.used(at)).toBeGreaterThanOrEqual(spared.used(at) - 1e-6);
      }
    },
  );
}

/** What could be granted: of requests, which are whole numbers, parts of one are nothing. */
function whole(dimension: Dimension, at: number): number {
  const room = dimension.room(at);
  return dimension.spec.unit === 'tokens' ? room : Math.floor(room + 1e-6);
}

/** Mutant: the seed's rule, which gives the request back when it was refused. */
function refundsRefusals(dimension: Dimension): Dimension {
  let latest = 0;
  return Object.assign(Object.create(dimension) as Dimension, {
    debit: (amount: number, now: number) => (latest = dimension.debit(amount, now)),
    throttled: (now: number, hintMs: number | undefined) => {
      dimension.throttled(now, hintMs);
      dimension.correct(latest, -1, now);
    },
  });
}

describe('a refusal', () => {
  it('property 5: a 429 never increases room', () => {
    fc.assert(
      refusalGivesNothing((spec) => createDimension(spec, 0)),
      RUNS,
    );
  });

  it('property 5: fails where a 429 gives the request back', () => {
    expect(
      fc.check(
        refusalGivesNothing((spec) => refundsRefusals(createDimension(spec, 0))),
        RUNS,
      ).failed,
    ).toBe(true);
  });

  it('property 15: no grant before the hint, and a shorter pause never shortens a longer one', () => {
    const pauses = fc.array(fc.integer({ min: 0, max: 100_000 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(specs, lives, pauses, (spec, list, untils) => {
        const [paused, other] = [createDimension(spec, 0), createDimension({ ...spec, id: 'other' }, 0)];
        const walked = fitted(list, spec);
        const { endedAt: now } = walk(paused, walked, 0);
        walk(other, walked, 0);
        for (const until of untils) paused.pause(now + until);
        const last = now + Math.max(...untils);
        expect(paused.pausedUntil).toBe(last);
        expect(paused.earliest(1, now)).toBeGreaterThanOrEqual(last);
        if (last > now) {
          expect(paused.fits(1, last - 0.01)).toBe(false);
          expect(paused.room(now)).toBe(0);
        }
        const unpaused = other.earliest(1, now);
        expect(paused.earliest(1, now)).toBeGreaterThanOrEqual(unpaused);
        if (spec.shape.kind !== 'unknown') {
          expect(paused.earliest(1, now)).toBeCloseTo(Math.max(last, unpaused), 3);
        }
        expect(other.pausedUntil).toBe(-Infinity);
      }),
      RUNS,
    );
  });
});

describe('a limit that changes', () => {
  it('property 14: a lower one grants nothing until the window holds no more; zero pauses, infinity disables', () => {
    fc.assert(
      fc.property(specs, lives, fc.double({ min: 0.05, max: 3, noNaN: true }), (spec, list, factor) => {
        const dimension = createDimension(spec, 0, { presumeSpent: false });
        const walked = fitted(list, spec).map((step) => ({ ...step, refund: 0 }));
        const { sends: before, endedAt } = walk(dimension, walked, 0);
        const sends = [...before];
        let now = endedAt;
        const limit = Math.max(1, Math.round(spec.limit * factor));
        dimension.setLimit(limit, now);
        expect(dimension.limit).toBe(limit);
        const changedAt = now;
        for (let count = 0; count < 20; count += 1) {
          now = dimension.earliest(1, now);
          if (now === Infinity) break;
          const slot = dimension.debit(1, now);
          sends.push({ at: now, slot, amount: 1 });
          const window = sends.filter((send) => send.at > now - spec.windowMs - spec.delaySpreadMs);
          if (spec.shape.kind !== 'bucket') expect(peak(window, Infinity)).toBeLessThanOrEqual(limit);
        }
        dimension.setLimit(0, changedAt);
        expect(dimension.fits(1, now + spec.windowMs)).toBe(false);
        expect(dimension.earliest(1, now)).toBe(Infinity);
        dimension.setLimit(Infinity, changedAt);
        expect(dimension.fits(1e12, Math.max(now, changedAt) + 1e6)).toBe(true);
      }),
      RUNS,
    );
  });

  it('property 14: a higher one lets a full window go on at once', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 300 }), fc.integer({ min: 2, max: 5 }), (limit, times) => {
        const dimension = createDimension(specOf({ shape: { kind: 'unknown' }, limit, burst: 1e6 }), 0, {
          presumeSpent: false,
        });
        dimension.debit(limit, 0);
        expect(dimension.fits(1, 1000)).toBe(false);
        dimension.setLimit(limit * times, 1000);
        expect(dimension.fits(1, 1000)).toBe(true);
      }),
      RUNS,
    );
  });
});
