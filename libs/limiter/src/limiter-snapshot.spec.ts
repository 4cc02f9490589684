import { seededRandom, type Milliseconds } from '@weir/kernel';
import * as fc from 'fast-check';
import { createLimiter } from './create-limiter.js';
import type { LimiterSnapshot } from './limiter-snapshot.js';
import type { PacedLimiter } from './paced-limiter.js';
import { CHECKED } from './testing/properties.js';
import { dimension, WINDOW_MS } from './testing/scenarios.js';
import { Simulation, type Wish } from './testing/simulation.js';

const LIMIT = 6;

function life(count: number): { simulation: Simulation; limiter: PacedLimiter } {
  let limiter: PacedLimiter | undefined;
  const simulation = new Simulation((clock) => {
    limiter = createLimiter({
      dimensions: [
        dimension({}, 'requests', LIMIT),
        dimension({}, 'tokens', 10_000),
        dimension({}, 'slots', 20),
      ],
      teams: [],
      clock,
      timers: clock,
      random: seededRandom(1),
      queue: { maxWaitMs: 1e9, maxDepth: 1e6, maxDepthPerTeam: 1e6 },
      presumeSpent: false,
    });
    return limiter;
  });
  const outcomes = [{ kind: 'settle', afterMs: 30, input: 7 } as const];
  const wish: Wish = { at: 0, team: 'a', model: 'm', input: 10, output: 5, patienceMs: 1e9, outcomes };
  simulation.add(Array.from({ length: count }, () => wish));
  if (!limiter) throw new Error('not built');
  return { simulation, limiter };
}

describe('a planned restart', () => {
  it('goes on from a snapshot: no window across the restart holds more than the limit', async () => {
    const part = fc.integer({ min: 0, max: WINDOW_MS * 2 });
    await fc.assert(
      fc.asyncProperty(part, fc.integer({ min: 0, max: WINDOW_MS }), async (livedMs, downMs) => {
        const old = life(40);
        await old.simulation.run({ until: livedMs });
        old.simulation.clock.jump(10_000 + livedMs);
        const carried = JSON.stringify(old.limiter.snapshot());

        const next = life(40);
        const snapshot = JSON.parse(carried) as LimiterSnapshot;
        const took = next.simulation.clock.epochNow() - downMs;
        next.limiter.restore({ ...snapshot, takenAt: took });
        await next.simulation.run({ until: WINDOW_MS * 2 });

        const shift: Milliseconds = livedMs + downMs;
        const sent = [
          ...old.simulation.granted.map(({ at }) => at),
          ...next.simulation.granted.map(({ at }) => at + shift),
        ];
        for (const [index, at] of sent.entries()) {
          const later = sent[index + LIMIT];
          if (later !== undefined) expect(later - at).toBeGreaterThan(WINDOW_MS);
        }
      }),
      { ...CHECKED, numRuns: 300 },
    );
  });

  it('leaves out what is no longer configured', () => {
    const { limiter } = life(0);
    const snapshot = limiter.snapshot();
    expect(Object.keys(snapshot.dimensions)).toContain('account:main:tokens');
    limiter.restore({
      ...snapshot,
      dimensions: { gone: { limit: 1, spent: [], debtMs: 0, pausedForMs: 0 } },
    });
    expect(limiter.status().dimensions.some(({ id }) => id === 'gone')).toBe(false);
  });
});
