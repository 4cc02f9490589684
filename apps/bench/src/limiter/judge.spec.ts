import type { ContenderName } from './contenders.js';
import { judgeLimiter } from './judge.js';
import { Measurements } from './measurements.js';

/** A world in which everything holds, but for what a test changes. */
function world(change: (name: ContenderName) => Readonly<Record<string, number>>): Measurements {
  const all = new Measurements();
  const names: readonly ContenderName[] = [
    'Weir, 6 dimensions',
    'Weir, an AbortSignal each',
    'bottleneck',
    'limiter TokenBucket',
    "seeds' bucket",
  ];
  for (const contender of names) {
    const ours = contender.startsWith('Weir');
    const costs = { cpuUs: ours ? 20 : 300, acquireNs: 400, bytes: 400, p99Ms: 2, swaps: 0 };
    const measured = { ...costs, ...change(contender) };
    for (const waiters of [300, 1_000, 10_000, 100_000]) {
      for (const measure of ['free', 'drain', 'pace', 'memory'] as const) {
        all.add({ contender, measure, waiters }, measured);
      }
    }
  }
  return all;
}

const failing = (all: Measurements): readonly string[] =>
  judgeLimiter(all).flatMap(({ claim, holds }) => (holds ? [] : [claim]));
const forWeir =
  (numbers: Readonly<Record<string, number>>) =>
  (name: ContenderName): Readonly<Record<string, number>> =>
    name.startsWith('Weir') ? numbers : {};

describe('the verdicts on cost', () => {
  it('hold where every number is good', () => {
    expect(failing(world(() => ({})))).toEqual([]);
  });

  it.each([
    [{ acquireNs: 801 }, /^an uncontended acquire/],
    [{ cpuUs: 31 }, /a tenth of the plain port/],
    [{ bytes: 600 }, /under 600 bytes/],
  ])('fail by the number that is bad: %j', (numbers, claim) => {
    expect(failing(world(forWeir(numbers)))).toEqual([expect.stringMatching(claim)]);
  });

  it('compare with those peers only that keep order and pace', () => {
    const cheap = { cpuUs: 5 };
    const among = (more: object) =>
      failing(world((name) => (name === 'limiter TokenBucket' ? { ...cheap, ...more } : {})));
    expect(among({})).toEqual([expect.stringMatching(/any peer/)]);
    expect(among({ p99Ms: 10 })).toEqual([]);
    expect(among({ swaps: 1 })).toEqual([]);
  });

  it('show nothing where a noisy machine lets no peer pace', () => {
    expect(failing(world(() => ({ p99Ms: 10 })))).toEqual([expect.stringMatching(/any peer/)]);
  });
});
