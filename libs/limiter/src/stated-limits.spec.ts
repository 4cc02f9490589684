import { seededRandom } from '@weir/kernel';
import { FakeClock } from '@weir/testing';
import { createLimiter } from './create-limiter.js';
import type { DimensionSpec } from './quota/dimension.js';

const TARGET = { account: 'main', model: 'm' };

function limits() {
  const clock = new FakeClock(1_000);
  const common = { unit: 'requests', windowMs: 6_000, shape: { kind: 'unknown' }, delaySpreadMs: 0 } as const;
  const dimensions: DimensionSpec[] = [
    { ...common, id: 'account', scope: 'account', account: 'main', limit: 60 },
    { ...common, ...TARGET, id: 'model', scope: 'model', limit: 48 },
  ];
  const limiter = createLimiter({
    dimensions,
    teams: [],
    queue: { maxWaitMs: 60_000, maxDepth: 10, maxDepthPerTeam: 10 },
    clock,
    timers: clock,
    random: seededRandom(1),
  });
  return {
    limiter,
    state: (limitRequests: number) => {
      limiter.observe(TARGET, { limitRequests });
    },
    now: (): Record<string, number> =>
      Object.fromEntries(limiter.status().dimensions.map(({ id, limit }) => [id, limit])),
  };
}

describe('a limit that a provider states', () => {
  it('is no news where the account has it: the model keeps its own', () => {
    const { state, now } = limits();
    state(60);
    expect(now()).toEqual({ account: 60, model: 48 });
  });

  it('does not start again what a person stopped', () => {
    const { state, now, limiter } = limits();
    limiter.setLimit('model', 0);
    limiter.setLimit('account', 0);
    state(60);
    expect(now()).toEqual({ account: 0, model: 0 });
  });

  it("replaces the model's where neither has it, in both directions", () => {
    const { state, now } = limits();
    state(30);
    expect(now()).toEqual({ account: 60, model: 30 });
    state(54);
    expect(now()).toEqual({ account: 60, model: 54 });
  });
});
