import { FakeClock } from '@weir/testing';
import type { Permit, Turn } from './limiter.js';
import type { PacedLimiter } from './paced-limiter.js';
import type { DimensionSpec } from './quota/dimension.js';
import { build } from './testing/makers.js';
import { Recorder } from './testing/recorded-dimension.js';
import { dimension } from './testing/scenarios.js';

const target = { account: 'main', model: 'm' };
const ask = { target, cost: { inputTokens: 1, outputTokens: 1 } };
const LEASE_MS = 5_000;

function house(...dimensions: DimensionSpec[]): { clock: FakeClock; limiter: PacedLimiter } {
  const clock = new FakeClock(10_000);
  const bench = { dimensions, teams: [], clock, recorder: new Recorder() };
  return { clock, limiter: build(bench, { slotLeaseMs: LEASE_MS }) };
}

const call = (team: string): Parameters<PacedLimiter['eta']>[0] => ({
  requestId: 'r',
  team,
  model: 'm',
  operation: 'chat',
  template: 'none',
  priority: 'normal',
});

const enter = (limiter: PacedLimiter, team: string): Turn =>
  limiter.enter({ identity: call(team), deadline: 1e9 });

const wait = (limiter: PacedLimiter, team: string): Promise<Permit> => enter(limiter, team).acquire(ask);

describe('what is told of the limiter', () => {
  it('shows a slot free when its lease ran out, although nobody waits', async () => {
    const { clock, limiter } = house(dimension({}, 'slots', 1));
    await wait(limiter, 'a');
    expect(limiter.status()).toMatchObject({ open: 1, leaked: 0, dimensions: [{ used: 1 }, {}] });
    clock.jump(10_000 + 2 * LEASE_MS);
    expect(limiter.status()).toMatchObject({ open: 0, leaked: 1, dimensions: [{ used: 0 }, {}] });
  });

  it('expects a grant at once where only a lease that ran out was in the way', async () => {
    const { clock, limiter } = house(dimension({}, 'slots', 1));
    await wait(limiter, 'a');
    clock.jump(10_000 + 2 * LEASE_MS);
    expect(limiter.eta(call('b'), ask)).toBe(clock.now());
  });

  it('expects the last of those that wait behind all of them, whatever their priority', async () => {
    const { clock, limiter } = house(dimension({}, 'requests', 10));
    const low = Array.from({ length: 40 }, () =>
      limiter.enter({ identity: { ...call('a'), priority: 'low' }, deadline: 1e9 }).acquire(ask),
    );
    const told = limiter.status().flows[0]?.etaMs ?? 0;
    const before = clock.now();
    while (limiter.status().waiting > 0) await clock.advance(100);
    await Promise.all(low);
    expect(told).toBeGreaterThan(0.75 * (clock.now() - before));
  });

  it('refuses a limit that is none, and changes nothing', () => {
    const { limiter } = house(dimension({}, 'requests', 10));
    for (const limit of [NaN, -1])
      expect(() => limiter.setLimit('account:main:requests', limit)).toThrow('limit');
    expect(limiter.status().dimensions[0]?.limit).toBe(10);
  });

  it('names what blocks now, and not what did long ago', async () => {
    const { clock, limiter } = house(
      dimension({}, 'requests', 1_000, { burst: 1_000 }),
      dimension({ model: 'm' }, 'requests', 1),
    );
    const crowd = (): Promise<Permit>[] =>
      ['a', 'b', 'c', 'b', 'c', 'b', 'c'].map((team) => wait(limiter, team));
    const labels = async (waits: Promise<Permit>[]): Promise<Set<string | undefined>> => {
      const seen = new Set<string | undefined>();
      while (limiter.status().waiting > 0) {
        await clock.advance(1_000);
        for (const { boundBy } of limiter.status().flows) seen.add(boundBy);
      }
      for (const { boundBy } of await Promise.all(waits.slice(1))) seen.add(boundBy);
      return seen;
    };
    expect(await labels(crowd())).toEqual(new Set(['model:main/m:requests']));
    limiter.setLimit('model:main/m:requests', Infinity);
    limiter.setLimit('account:main:requests', 1);
    await clock.advance(10_000);
    expect(await labels(crowd())).toEqual(new Set(['account:main:requests']));
    limiter.setLimit('account:main:requests', Infinity);
    limiter.setLimit('model:main/m:requests', 1);
    await clock.advance(10_000);
    expect(await labels(crowd())).toEqual(new Set(['model:main/m:requests']));
  });
});
