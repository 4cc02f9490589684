import * as fc from 'fast-check';
import { paced } from './testing/makers.js';
import { CHECKED, start } from './testing/properties.js';
import { dimension, TEAMS, WINDOW_MS } from './testing/scenarios.js';
import type { Simulation, Wish } from './testing/simulation.js';

const wish = (at: number, more: Partial<Wish> = {}): Wish => ({
  at,
  team: 'a',
  model: 'm',
  input: 10,
  output: 0,
  patienceMs: 1e9,
  outcomes: [{ kind: 'settle', afterMs: 20 }],
  ...more,
});

function etaOf(simulation: Simulation, { team, model, input }: Wish): number {
  const identity = {
    requestId: 'r',
    team,
    model,
    operation: 'chat',
    template: 'none',
    priority: 'normal',
  } as const;
  const ask = { target: { account: 'main', model }, cost: { inputTokens: input, outputTokens: 0 } };
  return simulation.limiter.eta(identity, ask);
}

describe('expected wait', () => {
  it('is right to a quarter of a window, and to a window where small ones may use gaps, if nobody comes later', async () => {
    const load = fc.record({
      requests: fc.integer({ min: 2, max: 12 }),
      tokens: fc.integer({ min: 400, max: 800 }),
      sizes: fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 30 }),
      alike: fc.boolean(),
      last: fc.integer({ min: 1, max: 20 }),
    });
    await fc.assert(
      fc.asyncProperty(load, async ({ requests, tokens, sizes: drawn, alike, last }) => {
        const sizes = alike ? drawn.map(() => last) : drawn;
        const dimensions = [dimension({}, 'requests', requests), dimension({}, 'tokens', tokens)];
        const wishes = sizes.map((input, n) => wish(n, { input }));
        const { simulation } = start(paced, { dimensions, teams: TEAMS, wishes });
        const newcomer = wish(sizes.length, { input: last, outcomes: [{ kind: 'settle', afterMs: 21 }] });
        let eta = NaN;
        simulation.at(newcomer.at, () => {
          eta = etaOf(simulation, newcomer);
        });
        simulation.add([newcomer]);
        await simulation.run();
        const at = simulation.granted.find(({ wish: granted }) => granted === newcomer)?.at ?? NaN;
        const tolerance = new Set([...sizes, last]).size === 1 ? WINDOW_MS / 4 : WINDOW_MS;
        expect(Math.abs(at - eta)).toBeLessThanOrEqual(tolerance);
      }),
      CHECKED,
    );
  });

  it('has no side effect', async () => {
    const { simulation, recorder } = start(paced, {
      dimensions: [dimension({}, 'requests', 2)],
      teams: TEAMS,
      wishes: [wish(0), wish(1), wish(2)],
    });
    await simulation.run({ until: 10 });
    const before = JSON.stringify(simulation.limiter.status());
    expect(etaOf(simulation, wish(0, { team: 'b' }))).toBeGreaterThan(simulation.clock.now());
    expect(etaOf(simulation, wish(0, { team: 'b' }))).toBe(etaOf(simulation, wish(0, { team: 'b' })));
    expect(JSON.stringify(simulation.limiter.status())).toBe(before);
    expect(recorder.changes.map(({ kind }) => kind)).toEqual(['debit', 'debit']);
  });

  it('does not count a parked model: who can go at once goes, however little time it has', async () => {
    const { simulation } = start(paced, {
      dimensions: [dimension({}, 'requests', 100), dimension({ model: 'm' }, 'requests', 1)],
      teams: TEAMS,
      wishes: [...Array.from({ length: 50 }, () => wish(0)), wish(500, { model: 'n', patienceMs: 1 })],
    });
    await simulation.run({ until: 600 });
    expect(simulation.granted.some(({ wish: { model } }) => model === 'n')).toBe(true);
  });

  it('is told with a refusal: what blocks, how many are before it, when to come back', async () => {
    const { simulation } = start(paced, {
      dimensions: [dimension({}, 'requests', 100), dimension({ team: 'a' }, 'tokens', 100)],
      teams: TEAMS,
      wishes: [wish(0, { input: 100 }), wish(1), wish(2), wish(3, { patienceMs: 500 })],
    });
    await simulation.run({ until: 100 });
    const [refused] = simulation.refused;
    expect(refused?.error).toMatchObject({ code: 'team_share_exceeded', retryable: true, origin: 'gateway' });
    expect(refused?.error.message).toMatch(
      /blocked by team:a:tokens, behind about 2 requests of its team for this model/,
    );
    expect(refused?.error.dimension).toBe('team:a:tokens');
    expect(refused?.error.hintMs).toBeGreaterThan(WINDOW_MS - 100);
    const [flow] = simulation.limiter.status().flows;
    expect(flow).toMatchObject({ team: 'a', model: 'main/m', waiting: 2, boundBy: 'team:a:tokens' });
  });
});
