import { runPacing, type PacingPlan, type PacingResult } from './testing/pacing-run.js';
import { PROVIDERS, standardPlan } from './testing/standard-plan.js';

/** The learner was tuned on seeds 1 to 20. */
const HELD_OUT = Array.from({ length: 40 }, (_, index) => 101 + index);
/** `bench -- pacing` judges the rest. */
const SOME = HELD_OUT.slice(0, 12);

interface Row {
  readonly refused: number;
  readonly worstRefused: number;
  readonly requestUse: number;
  readonly tokenUse: number;
}

function measured(planOf: (seed: number) => PacingPlan, seeds = HELD_OUT): Row {
  const runs = seeds.map((seed) => runPacing(planOf(seed)));
  const mean = (of: (run: PacingResult) => number) =>
    runs.reduce((sum, run) => sum + of(run), 0) / runs.length;
  return {
    refused: mean((run) => run.rejectedShare),
    worstRefused: Math.max(...runs.map((run) => run.rejectedShare)),
    requestUse: mean((run) => run.requestUse),
    tokenUse: mean((run) => run.tokenUse),
  };
}

describe.each(Object.entries(PROVIDERS))('a provider of unknown shape: %s', (_, shape) => {
  it('is used in full with hardly a refusal, bound by requests', () => {
    const row = measured((seed) => standardPlan(seed, shape, 'requests'));
    expect(row.refused).toBeLessThanOrEqual(0.001);
    expect(row.worstRefused).toBeLessThanOrEqual(0.005);
    expect(row.requestUse).toBeGreaterThanOrEqual(0.97);
  });

  it('is used in full with hardly a refusal where failed calls count', () => {
    const row = measured(
      (seed) => ({ ...standardPlan(seed, shape, 'requests'), countsRejected: true }),
      SOME,
    );
    expect(row.refused).toBeLessThanOrEqual(0.001);
    expect(row.requestUse).toBeGreaterThanOrEqual(0.97);
  });

  it('is used in full with hardly a refusal, bound by tokens', () => {
    const row = measured((seed) => standardPlan(seed, shape, 'tokens'), SOME);
    expect(row.refused).toBeLessThanOrEqual(0.001);
    expect(row.tokenUse).toBeGreaterThanOrEqual(0.92);
  });
});

describe('a provider of unknown shape that rounds its limit down', () => {
  const SLICES = { second: 1_000, 'ten seconds': 10_000 };

  it.each([
    { limit: 100, per: 'second', takes: 60 },
    { limit: 150, per: 'second', takes: 120 },
    { limit: 200, per: 'second', takes: 180 },
    { limit: 500, per: 'second', takes: 480 },
    { limit: 1_000, per: 'second', takes: 960 },
    { limit: 10, per: 'ten seconds', takes: 6 },
    { limit: 20, per: 'ten seconds', takes: 18 },
    { limit: 50, per: 'ten seconds', takes: 48 },
    { limit: 100, per: 'ten seconds', takes: 96 },
    { limit: 1_000, per: 'ten seconds', takes: 996 },
  ] as const)('is used in full with hardly a refusal: $limit a minute, per $per', ({ limit, per, takes }) => {
    const row = measured(
      (seed) => ({
        ...standardPlan(seed, { quantumMs: SLICES[per] }, 'requests'),
        provider: { limit, windowMs: 60_000, shape: { quantumMs: SLICES[per] } },
        tokensPerWindow: 1e9,
        demand: 2 * limit,
      }),
      SOME.slice(0, 4),
    );
    expect(row.refused).toBeLessThanOrEqual(0.002);
    // The phase of ten seconds is not found: it costs J, and the next cell.
    expect((row.requestUse * limit) / takes).toBeGreaterThanOrEqual(per === 'second' ? 0.97 : 0.95);
  });

  it.each([3, 5])('is used in full with hardly a refusal: %i a minute, one at a time', (limit) => {
    const row = measured(
      (seed) => ({
        ...standardPlan(seed, { bucket: 1 }, 'requests'),
        provider: { limit, windowMs: 60_000, shape: { bucket: 1 } },
        demand: 2 * limit,
      }),
      SOME,
    );
    expect(row.refused).toBeLessThanOrEqual(0.02);
    expect(row.requestUse).toBeGreaterThanOrEqual(0.94);
  });
});

describe('a provider that is declared a bucket', () => {
  it('gives its burst credit to bursty callers', () => {
    const row = measured(
      (seed) => ({
        ...standardPlan(seed, { bucket: 60 }, 'requests'),
        declared: { kind: 'bucket', capacity: 60 },
        demand: 180,
        bursts: { onMs: 60_000, everyMs: 180_000 },
      }),
      SOME,
    );
    expect(row.refused).toBeLessThanOrEqual(0.001);
    expect(row.requestUse).toBeGreaterThanOrEqual(0.95);
  });
});
