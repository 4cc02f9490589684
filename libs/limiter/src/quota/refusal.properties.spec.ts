import fc from 'fast-check';
import { createDimension } from './create-dimension.js';
import type { Dimension, Shape } from './dimension.js';
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

  it('property 15: what goes first after a pause is a probe, without a hint and after a long one', () => {
    const pauses = fc.integer({ min: 0, max: 200_000 });
    fc.assert(
      fc.property(specs, lives, pauses, fc.boolean(), (spec, list, pausedMs, hinted) => {
        fc.pre(spec.unit === 'requests' && spec.windowMs < 3_600_000);
        const dimension = createDimension(spec, 0, { presumeSpent: false });
        const { endedAt: now } = walk(dimension, fitted(list, spec), 0);
        dimension.pause(now + pausedMs);
        dimension.throttled(now, hinted ? pausedMs * 0.9 : undefined);
        // Timers may be late by so much.
        const lateMs = Math.min(20, spec.windowMs / 60);
        const probes = 1 + Math.floor((lateMs * spec.limit) / spec.windowMs);
        const at = dimension.pausedUntil;
        expect(dimension.earliestAfter(probes, 1, at)).toBeGreaterThan(at);
      }),
      RUNS,
    );
  });
});

describe('a limit that changes', () => {
  it.each<Shape>([{ kind: 'unknown' }, { kind: 'sliding' }, { kind: 'bucket', capacity: 60 }])(
    'property 14: a far lower one is used from the next window on, $kind',
    (shape) => {
      const dimension = createDimension(specOf({ shape, limit: 600 }), 0, { presumeSpent: false });
      let now = 0;
      for (let count = 0; count < 300; count += 1) dimension.debit(1, (now = dimension.earliest(1, now)));
      dimension.setLimit(6, now);
      expect(dimension.earliest(1, now)).toBeLessThanOrEqual(now + 60_000 + 1_000);
    },
  );

  it.each<Shape>([{ kind: 'unknown' }, { kind: 'sliding' }, { kind: 'bucket', capacity: 60 }])(
    'property 14: a lower one makes no pause longer, $kind',
    (shape) => {
      const dimension = createDimension(specOf({ shape, limit: 600 }), 0, { presumeSpent: false });
      dimension.debit(1, 0);
      dimension.pause(60_000);
      dimension.throttled(0, 60_000);
      dimension.setLimit(6, 1);
      expect(dimension.earliest(1, 1)).toBeLessThanOrEqual(60_000 + 1_000);
    },
  );

  it('property 1: a lower one and the old one again do not fill a bucket', () => {
    const shape = { kind: 'bucket', capacity: 60 } as const;
    const dimension = createDimension(specOf({ shape, limit: 600 }), 0, { presumeSpent: false });
    for (let count = 0; count < 30; count += 1) dimension.debit(1, 0);
    for (const limit of [6, 600, 60, 600]) dimension.setLimit(limit, 1);
    expect(dimension.room(1)).toBeLessThanOrEqual(1.01);
  });

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
