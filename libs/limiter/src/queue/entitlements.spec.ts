import type { Milliseconds } from '@weir/kernel';
import { paced } from '../testing/makers.js';
import { start } from '../testing/properties.js';
import { dimension } from '../testing/scenarios.js';
import type { Simulation, Wish } from '../testing/simulation.js';

const times = (count: number, wish: Partial<Wish>): Wish[] =>
  Array.from({ length: count }, () => ({
    at: 0,
    team: 'a',
    model: 'A',
    input: 0,
    output: 0,
    patienceMs: 1e9,
    outcomes: [{ kind: 'settle', afterMs: 1 }],
    ...wish,
  }));

/** Eight in eight seconds for the account, four of them for A, which may send one every two seconds. Of B eight come at once. */
async function run(
  ofA: readonly Wish[],
  ofB: Partial<Wish> = {},
  { weight = 1, more = [] }: { readonly weight?: number; readonly more?: readonly Wish[] } = {},
): Promise<Simulation> {
  const { simulation } = start(paced, {
    dimensions: [
      dimension({}, 'requests', 8, { burst: 8 }),
      dimension({ model: 'A' }, 'requests', 4, { burst: 1 }),
    ],
    teams: [
      { id: 'a', weight: 1 },
      { id: 'b', weight },
    ],
    wishes: [...ofA, ...times(8, { at: 10, team: 'b', model: 'B', ...ofB }), ...more],
  });
  await simulation.run();
  return simulation;
}

const grantsOf = ({ granted }: Simulation, model: string): Milliseconds[] =>
  granted.filter(({ wish }) => wish.model === model).map(({ at }) => Math.floor((at - 10_000) / 100) * 100);

describe('what a model with a limit of its own is entitled to', () => {
  it('is not lent to a flow that has had its fair share', async () => {
    const simulation = await run(times(10, {}));
    expect(grantsOf(simulation, 'A').slice(0, 4)).toEqual([0, 1900, 3900, 5900]);
    expect(grantsOf(simulation, 'B').filter((at) => at < 8_000)).toEqual([0, 0, 0, 0]);
  });

  it('is no more than its waiting requests can use', async () => {
    const simulation = await run(times(2, {}));
    expect(grantsOf(simulation, 'B').filter((at) => at < 1_000)).toHaveLength(6);
    expect(grantsOf(simulation, 'A')).toEqual([0, 1900]);
  });

  it('is lent at once when they go away', async () => {
    const simulation = await run([...times(2, {}), ...times(8, { leavesAfterMs: 1_000 })]);
    expect(grantsOf(simulation, 'A')).toEqual([0, 1900]);
    expect(grantsOf(simulation, 'B').slice(0, 6)).toEqual([0, 0, 0, 0, 1000, 1000]);
  });

  it('is left alone at once where others leave the window', async () => {
    const { simulation } = start(paced, {
      dimensions: [
        dimension({}, 'requests', 10, { burst: 10 }),
        dimension({ model: 'A' }, 'requests', 4, { burst: 1 }),
      ],
      teams: [],
      wishes: [
        ...times(2, { team: 'c', model: 'C' }),
        ...times(10, { at: 5_000 }),
        ...times(6, { at: 5_010, team: 'b', model: 'B' }),
      ],
    });
    await simulation.run();
    expect(grantsOf(simulation, 'B')).toEqual([5000, 5000, 5000, 5000, 5000, 8000]);
  });

  it('does not make two wait for each other that have both had their share', async () => {
    const { simulation } = start(paced, {
      dimensions: [
        dimension({}, 'requests', 8, { burst: 1 }),
        ...['A', 'B'].map((model) => dimension({ model }, 'requests', 6, { burst: 6 })),
        dimension({ model: 'C' }, 'requests', 1),
      ],
      teams: [],
      wishes: ['A', 'B', 'C'].flatMap((model) => times(40, { model, team: model })),
    });
    await simulation.run({ until: 40_000 });
    expect(simulation.granted.length).toBeGreaterThanOrEqual(40);
  });

  it('is lent as soon as a flow falls below its fair share', async () => {
    const { simulation } = start(paced, {
      dimensions: [
        dimension({}, 'requests', 12, { burst: 12 }),
        dimension({ model: 'A' }, 'requests', 11, { burst: 1 }),
        dimension({ model: 'C' }, 'requests', 1),
      ],
      teams: [],
      wishes: [
        ...times(2, { model: 'C', team: 'c', leavesAfterMs: 3_500 }),
        ...times(4, { at: 10, team: 'b', model: 'B' }),
        ...times(2, { at: 3_000, team: 'b', model: 'B' }),
        ...times(10, { at: 7_000 }),
        ...times(1, { at: 7_010, team: 'b', model: 'B' }),
      ],
    });
    await simulation.run();
    expect(grantsOf(simulation, 'A').filter((at) => at < 8_000)).toHaveLength(2);
    expect(grantsOf(simulation, 'B').at(-1)).toBe(7_900);
  });

  it('is lent at once when another of its limits stops them', async () => {
    const { simulation } = start(paced, {
      dimensions: [
        dimension({}, 'requests', 8, { burst: 8 }),
        dimension({ model: 'A' }, 'requests', 4, { burst: 4 }),
        dimension({ model: 'A' }, 'slots', 1),
      ],
      teams: [],
      wishes: [
        ...times(10, { outcomes: [{ kind: 'settle', afterMs: 5_000 }] }),
        ...times(8, { at: 10, team: 'b', model: 'B' }),
      ],
    });
    await simulation.run();
    expect(grantsOf(simulation, 'B').filter((at) => at < 1_000)).toHaveLength(7);
  });

  it('is lent to a flow below its fair share, by weight', async () => {
    const simulation = await run(times(10, {}), {}, { weight: 3 });
    expect(grantsOf(simulation, 'B').filter((at) => at < 1_000)).toHaveLength(6);
  });

  it('is not lent where its room and that of its account come at one instant', async () => {
    const { simulation } = start(paced, {
      dimensions: [
        dimension({}, 'requests', 4, { burst: 4 }),
        dimension({ model: 'A' }, 'requests', 2, { burst: 2 }),
      ],
      teams: [],
      wishes: [...times(10, {}), ...times(10, { at: 100, team: 'b', model: 'B' })],
    });
    await simulation.run({ until: 40_000 });
    expect(grantsOf(simulation, 'A')).toHaveLength(10);
  });

  it('is lent at once when the team of who waits for it is stopped in the same look', async () => {
    const { simulation } = start(paced, {
      dimensions: [
        dimension({}, 'requests', 6, { burst: 1 }),
        dimension({ model: 'A' }, 'requests', 2, { burst: 1 }),
        dimension({ team: 'd' }, 'requests', 1, { burst: 1 }),
      ],
      teams: [],
      wishes: [
        ...times(1, { model: 'B' }),
        ...times(1, { at: 10, team: 'd' }),
        ...times(2, { at: 10, team: 'b', model: 'B' }),
        ...times(1, { at: 1_000, team: 'd' }),
        ...times(2, { at: 1_000, team: 'b', model: 'B' }),
      ],
    });
    await simulation.run();
    expect(grantsOf(simulation, 'B')).toEqual([0, 2600, 3900, 5300, 6600]);
  });

  it('leaves out what was taken while nobody else waited', async () => {
    const talk = times(2, {
      team: 'b',
      model: 'B',
      conversation: 'x',
      outcomes: [{ kind: 'settle', afterMs: 1_500 }],
    });
    const before = times(3, { at: 5, team: 'b', model: 'B' });
    const simulation = await run(times(10, { at: 2_000 }), { at: 2_010 }, { more: [...talk, ...before] });
    const late = grantsOf(simulation, 'B').filter((at) => at >= 2_000 && at < 3_000);
    expect(late).toHaveLength(2);
  });

  it('is not lent to large ones behind small ones either', async () => {
    const wishes = [
      ...times(10, { input: 100 }),
      ...times(8, { at: 10, team: 'b', model: 'B', input: 100 }),
      ...times(1, { at: 20, team: 'b', model: 'B', input: 300 }),
    ];
    const { simulation } = start(paced, {
      dimensions: [
        dimension({}, 'tokens', 800, { burst: 800 }),
        dimension({ model: 'A' }, 'tokens', 400, { burst: 100 }),
      ],
      teams: [],
      wishes,
    });
    await simulation.run();
    expect(grantsOf(simulation, 'A').filter((at) => at < 8_000)).toHaveLength(4);
    expect(simulation.granted).toHaveLength(19);
  });
});
