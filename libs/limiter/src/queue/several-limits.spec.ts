import { paced } from '../testing/makers.js';
import { start } from '../testing/properties.js';
import { dimension } from '../testing/scenarios.js';
import type { Simulation, Wish } from '../testing/simulation.js';

function wish(more: Partial<Wish>): Wish {
  const outcomes = [{ kind: 'settle', afterMs: 50 }] as const;
  return { at: 0, team: 'a', model: 'm', input: 0, output: 0, patienceMs: 1e9, outcomes, ...more };
}

/** Small ones of two models, each in the way of the other limit of one large request; twice what their limits let through. */
function crowd(until: number): Wish[] {
  return Array.from({ length: until / 200 }, (_, n) => n * 200).flatMap((at) => [
    wish({ at, team: 'a', model: 'n', input: 50 }),
    wish({ at, team: 'b', model: 'm', input: 50 }),
  ]);
}

const waited = ({ granted }: Simulation, large: Wish): number | undefined =>
  granted.filter(({ wish: one }) => one === large).map(({ at }) => at - 10_000 - large.at)[0];

describe('a request under several limits that do not hold the same others', () => {
  it.each([900, 600])('is not kept waiting for the one and the other in turn: %i of 1000', async (input) => {
    const large = wish({ at: 20_000, team: 'b', model: 'n', input });
    const { simulation } = start(paced, {
      dimensions: [dimension({ model: 'n' }, 'tokens', 1_000), dimension({ team: 'b' }, 'tokens', 1_000)],
      teams: [],
      wishes: [...crowd(60_000), large],
    });
    await simulation.run({ until: 60_000 });
    expect(waited(simulation, large)).toBeLessThan(16_000);
  });

  it('keeps what its team has for it while it waits for a slot', async () => {
    const outcomes = [{ kind: 'settle', afterMs: 900 }] as const;
    const large = wish({ at: 20_000, team: 'b', model: 'n', input: 600, outcomes });
    const { simulation } = start(paced, {
      dimensions: [dimension({ model: 'n' }, 'slots', 4), dimension({ team: 'b' }, 'tokens', 1_000)],
      teams: [],
      wishes: [...crowd(60_000).map((one) => (one.model === 'n' ? { ...one, outcomes } : one)), large],
    });
    await simulation.run({ until: 60_000 });
    expect(waited(simulation, large)).toBeLessThan(16_000);
  });

  it('costs its team nothing while it waits for a slot that does not come', async () => {
    const long = [{ kind: 'settle', afterMs: 50_000 }] as const;
    const small = Array.from({ length: 20 }, (_, n) => wish({ at: 2_000 + n, team: 'b', input: 50 }));
    const { simulation } = start(paced, {
      dimensions: [
        dimension({ model: 'n' }, 'slots', 1),
        dimension({ team: 'b' }, 'tokens', 1_000, { burst: 1_000 }),
      ],
      teams: [],
      wishes: [
        wish({ model: 'n', outcomes: long }),
        wish({ at: 1_000, team: 'b', model: 'n', input: 900 }),
        ...small,
      ],
    });
    await simulation.run({ until: 3_000 });
    expect(simulation.granted).toHaveLength(21);
  });

  it('goes although both have learned cells, whose open parts never meet', async () => {
    const shape = { kind: 'unknown' } as const;
    const twice = [
      { kind: 'fail', afterMs: 614, failure: 'rate_limit_requests' },
      { kind: 'fail', afterMs: 1_173, failure: 'concurrency' },
    ] as const;
    const { simulation } = start(paced, {
      dimensions: [
        dimension({}, 'requests', 2, { burst: 1, shape }),
        dimension({ model: 'm' }, 'requests', 2, { burst: 1_000, shape }),
      ],
      teams: [],
      wishes: [wish({ outcomes: twice }), wish({ model: 'n' }), wish({})],
    });
    await simulation.run({ until: 1_000_000 });
    expect(simulation.limiter.status().waiting).toBe(0);
    expect(simulation.granted).toHaveLength(4);
  });
});
