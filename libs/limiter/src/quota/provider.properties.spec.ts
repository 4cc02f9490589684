import fc from 'fast-check';
import { RUNS } from './testing/arbitraries.js';
import { runPacing, type PacingPlan } from './testing/pacing-run.js';
import { PROVIDERS, standardPlan, truthAbout } from './testing/standard-plan.js';

/** A one-way delay that stays within J. */
const WITHIN_J = { delaySpreadMs: 250, jitterMs: 25, jitterCapMs: 250 };

const cases = fc.record({
  seed: fc.integer(),
  shape: fc.constantFrom(...Object.values(PROVIDERS)),
  bound: fc.constantFrom('requests', 'tokens'),
  load: fc.constantFrom(0.7, 0.95, 1.3),
  bursty: fc.boolean(),
  countsRejected: fc.boolean(),
});

function planOf({
  seed,
  shape,
  bound,
  load,
  bursty,
  countsRejected,
}: typeof cases extends fc.Arbitrary<infer Case> ? Case : never): PacingPlan {
  const plan = standardPlan(seed, shape, bound);
  return {
    ...plan,
    ...WITHIN_J,
    demand: (plan.demand * load) / 2,
    countsRejected,
    ...(bursty ? { bursts: { onMs: 60_000, everyMs: 180_000 } } : {}),
  };
}

function declaredIsNeverRefused(change: Partial<PacingPlan>): fc.IPropertyWithHooks<unknown> {
  return fc.property(cases, (one) => {
    const plan = {
      ...planOf(one),
      declared: truthAbout(one.shape),
      warmUpMs: 0,
      measuredMs: 300_000,
      ...change,
    };
    expect(runPacing(plan).rejectedInAll).toBe(0);
  });
}

describe('a provider model', () => {
  it('property 2: whose shape is declared never refuses, whatever its phase', () => {
    fc.assert(declaredIsNeverRefused({}), RUNS);
  });

  it('property 2: fails where the delay spread is left out', () => {
    expect(fc.check(declaredIsNeverRefused({ delaySpreadMs: 0 }), RUNS).failed).toBe(true);
  });

  it('property 2: whose shape is unknown refuses 0.5 % in the mean and 20 in a run at most, learning included', () => {
    let shares = 0;
    fc.assert(
      fc.property(cases, (one) => {
        const result = runPacing({ ...planOf(one), warmUpMs: 0, measuredMs: 1_800_000 });
        shares += result.rejectedShare;
        expect(result.rejectedInAll).toBeLessThanOrEqual(20);
      }),
      RUNS,
    );
    expect(shares / RUNS.numRuns).toBeLessThanOrEqual(0.005);
  });
});
