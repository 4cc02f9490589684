import { GatewayError, seededRandom } from '@weir/kernel';
import { FakeClock } from '@weir/testing';
import { createLimiter } from './create-limiter.js';
import type { Turn } from './limiter.js';
import type { DimensionSpec } from './quota/dimension.js';

const target = { account: 'main', model: 'm' };
const ask = { target, cost: { inputTokens: 1, outputTokens: 0 } };
const { signal } = new AbortController();

function house(dimensions: readonly DimensionSpec[]) {
  const clock = new FakeClock(1_000);
  const limiter = createLimiter({
    dimensions,
    teams: [{ id: 't', weight: 1 }],
    queue: { maxWaitMs: 60_000, maxDepth: 10, maxDepthPerTeam: 10 },
    clock,
    timers: clock,
    random: seededRandom(1),
  });
  const enter = (patienceMs: number, conversation?: string): Turn =>
    limiter.enter({
      identity: {
        ...{ requestId: 'r', team: 't', model: 'm', operation: 'chat', template: 'none', priority: 'normal' },
        ...(conversation === undefined ? {} : { conversation }),
      },
      deadline: clock.now() + patienceMs,
    });
  return { clock, enter };
}

describe('a request behind an earlier one of its conversation', () => {
  it('is told so at its deadline, and when to come back', async () => {
    const { clock, enter } = house([]);
    await enter(60_000, 'z').acquire(ask, signal);
    const outcome = enter(1_500, 'z')
      .acquire(ask, signal)
      .catch((error: unknown) => error);
    await clock.advance(1_500);
    const refusal = await outcome;
    expect(refusal).toBeInstanceOf(GatewayError);
    expect(refusal).toMatchObject({
      code: 'wait_exceeds_deadline',
      message: expect.stringMatching(/waited 1\.5 s for an earlier request of its conversation/) as string,
    });
    expect((refusal as GatewayError).hintMs).toBeGreaterThanOrEqual(1_000);
  });
});

describe('a request that a declared shape can never hold', () => {
  it.each([
    ['a bucket of a tenth', { kind: 'bucket', capacity: 100 }],
    ['a slice of a tenth', { kind: 'quantum', quantumMs: 6_000 }],
  ] as const)('is refused when it comes, as one above the limit is: %s', async (_, shape) => {
    const { clock, enter } = house([
      {
        ...{ id: 'account:main:tokens', scope: 'account', account: 'main', unit: 'tokens', limit: 1_000 },
        ...{ windowMs: 60_000, delaySpreadMs: 250, shape },
      },
    ]);
    const large = { target, cost: { inputTokens: 80, outputTokens: 70 } };
    const refusal = {
      code: 'cost_exceeds_capacity',
      message: expect.stringMatching(
        /needs 150 tokens, but account:main:tokens allows 100 at once/,
      ) as string,
    };
    await expect(enter(60_000).acquire(large, signal)).rejects.toMatchObject(refusal);
    await clock.advance(70_000);
    await expect(enter(60_000).acquire(large, signal)).rejects.toMatchObject(refusal);
  });
});

describe("a team's own limit", () => {
  it('starts empty: nobody but this process counts it', async () => {
    const common = {
      windowMs: 60_000,
      shape: { kind: 'sliding' },
      delaySpreadMs: 0,
      unit: 'requests',
    } as const;
    const { enter } = house([{ ...common, id: 'team:t:requests', scope: 'team', team: 't', limit: 6 }]);
    const permit = await enter(100).acquire(ask, signal);
    expect(permit.grantedAt).toBe(permit.eligibleAt);
  });
});
