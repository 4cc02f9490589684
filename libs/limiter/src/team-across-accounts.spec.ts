import { seededRandom, type Milliseconds } from '@weir/kernel';
import { FakeClock } from '@weir/testing';
import { createLimiter } from './create-limiter.js';
import type { DimensionSpec } from './quota/dimension.js';

const every = {
  unit: 'requests',
  shape: { kind: 'sliding' },
  burst: 10,
  delaySpreadMs: 0,
  limit: 1,
} as const;
const DIMENSIONS: readonly DimensionSpec[] = [
  { id: 'team:b:requests', scope: 'team', team: 'b', windowMs: 10_000, ...every },
  { id: 'account:spare:requests', scope: 'account', account: 'spare', windowMs: 600_000, ...every },
];

describe("a team's limit over two accounts", () => {
  it('property 6: is not kept for a request that has begun to wait for something else', async () => {
    const clock = new FakeClock(0);
    const limiter = createLimiter({
      dimensions: DIMENSIONS,
      teams: [],
      queue: { maxWaitMs: 1e9, maxDepth: 10, maxDepthPerTeam: 10 },
      presumeSpent: false,
      ...{ clock, timers: clock, random: seededRandom(1) },
    });
    const granted = new Map<string, Milliseconds>();
    const ask = (name: string, team: string, account: string): void => {
      const about = { requestId: name, team, model: 'm', operation: 'chat', template: 'none' } as const;
      const turn = limiter.enter({ identity: { ...about, priority: 'normal' }, deadline: 1e9 });
      const cost = { inputTokens: 1, outputTokens: 1 };
      void turn.acquire({ target: { account, model: 'm' }, cost }).then(() => granted.set(name, clock.now()));
    };
    ask('first of the team', 'b', 'main');
    await clock.advance(1_000);
    ask('owns the next of the team', 'b', 'spare');
    await clock.advance(1_000);
    ask('takes the account from it', 'c', 'spare');
    await clock.advance(1_000);
    ask('may go in its place', 'b', 'main');
    await clock.advance(15_000);
    expect(granted.get('may go in its place')).toBeLessThan(11_000);
    await clock.advance(620_000);
    expect(granted.get('owns the next of the team')).toBeLessThan(612_000);
  });
});
