import type { Priority } from '@weir/kernel';
import { paced } from './testing/makers.js';
import { start } from './testing/properties.js';
import { dimension } from './testing/scenarios.js';
import type { Simulation, Wish } from './testing/simulation.js';

const wish = (priority: Priority, more: Partial<Wish> = {}): Wish => ({
  at: 0,
  team: 'a',
  model: 'm',
  priority,
  input: 10,
  output: 0,
  patienceMs: 1e9,
  outcomes: [{ kind: 'settle', afterMs: 20 }],
  ...more,
});

const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);

async function run(wishes: readonly Wish[], until?: number): Promise<Simulation> {
  const teams = ['a', 'b'].map((id) => ({ id, weight: 1 }));
  const { simulation } = start(paced, { dimensions: [dimension({}, 'requests', 8)], teams, wishes });
  await simulation.run(until === undefined ? {} : { until });
  return simulation;
}

const priorities = (simulation: Simulation, first: number): Priority[] =>
  simulation.granted.slice(0, first).flatMap(({ wish: { priority } }) => priority ?? []);

describe('priorities', () => {
  it('are weights of 4 : 1 : 0.25 inside a team, so nobody starves', async () => {
    const wishes = (['low', 'normal', 'high'] as const).flatMap((priority) =>
      times(84, () => wish(priority)),
    );
    const served = priorities(await run(wishes), 84);
    const count = (wanted: Priority): number => served.filter((priority) => priority === wanted).length;
    expect(count('high')).toBeGreaterThanOrEqual(62);
    expect(count('normal')).toBeGreaterThanOrEqual(14);
    expect(count('low')).toBeGreaterThanOrEqual(3);
  });

  it('let a high request that comes to a full lane go next, once', async () => {
    const simulation = await run([...times(20, () => wish('normal')), wish('high', { at: 2_500 })], 60_000);
    const place = simulation.granted.findIndex(({ wish: { priority } }) => priority === 'high');
    const before = simulation.granted.filter(({ at }) => at <= 12_500).length;
    expect(place).toBeLessThanOrEqual(before + 1);
  });

  it('take nothing from another team', async () => {
    const simulation = await run([
      ...times(40, () => wish('high')),
      ...times(40, () => wish('low', { team: 'b' })),
    ]);
    const ofB = simulation.granted.slice(0, 40).filter(({ wish: { team } }) => team === 'b').length;
    expect(Math.abs(ofB - 20)).toBeLessThanOrEqual(1);
  });
});

describe('a retry', () => {
  it('goes before everybody who came after it, and its conversation waits for it', async () => {
    const fails = { kind: 'fail', afterMs: 100, failure: 'transient' } as const;
    const settles = { kind: 'settle', afterMs: 20 } as const;
    const first = wish('normal', { conversation: 'c', outcomes: [fails, settles] });
    const next = wish('normal', { conversation: 'c' });
    const others = times(10, () => wish('normal'));
    const simulation = await run([first, next, ...others]);
    const order = simulation.granted.map(({ wish: granted }) => granted);
    expect(order[0]).toBe(first);
    expect(order.slice(1, 3)).toContain(first);
    expect(order.indexOf(next)).toBeGreaterThan(order.lastIndexOf(first));
  });
});
