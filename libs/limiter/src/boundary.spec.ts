import { GatewayError } from '@weir/kernel';
import { FakeClock } from '@weir/testing';
import type { Cost, Turn } from './limiter.js';
import type { PacedLimiter } from './paced-limiter.js';
import { build } from './testing/makers.js';
import { Recorder } from './testing/recorded-dimension.js';
import { dimension } from './testing/scenarios.js';

const target = { account: 'main', model: 'm' };
const cost = (inputTokens: number, outputTokens: number): Cost => ({ inputTokens, outputTokens });

const limiterOf = (slots: number): PacedLimiter =>
  build({
    dimensions: [
      dimension({}, 'tokens', 1_000, { burst: 1_000 }),
      dimension({}, 'input_tokens', 1_000, { burst: 1_000 }),
      dimension({}, 'slots', slots),
    ],
    teams: [],
    clock: new FakeClock(10_000),
    recorder: new Recorder(),
  });

const enter = (limiter: PacedLimiter, deadline = 1e6): Turn =>
  limiter.enter({
    identity: {
      requestId: 'r',
      team: 'a',
      model: 'm',
      operation: 'chat',
      template: 'none',
      priority: 'normal',
    },
    deadline,
  });

const NO_AMOUNTS = [NaN, -1, -Infinity, Infinity];

describe('at the boundary of the limiter', () => {
  describe.each([
    { where: 'where nobody waits', slots: 2 },
    { where: 'behind somebody who waits', slots: 1 },
  ])('$where', ({ slots }) => {
    it.each([...NO_AMOUNTS.map((each) => cost(each, 1)), ...NO_AMOUNTS.map((each) => cost(1, each))])(
      'a cost of %j is refused as `internal`, nothing is taken, and the turn may ask again',
      async (wrong) => {
        const limiter = limiterOf(slots);
        const first = await enter(limiter).acquire({ target, cost: cost(10, 10) });
        if (slots === 1) void enter(limiter).acquire({ target, cost: cost(10, 10) });
        const turn = enter(limiter);
        const before = limiter.status();
        await expect(turn.acquire({ target, cost: wrong })).rejects.toMatchObject({ code: 'internal' });
        expect(limiter.status()).toEqual(before);
        const right = turn.acquire({ target, cost: cost(10, 10) });
        first.settle({ inputTokens: 10, outputTokens: 10 });
        if (slots === 2) expect((await right).reserved).toEqual(cost(10, 10));
        else expect(limiter.status().waiting).toBe(1);
      },
    );
  });

  it.each(NO_AMOUNTS)('a usage of %s is one that nobody knows: the reservation stands', async (wrong) => {
    const limiter = limiterOf(1);
    const permit = await enter(limiter).acquire({ target, cost: cost(10, 20) });
    permit.sent();
    expect(permit.settle({ inputTokens: wrong, outputTokens: 5 })).toMatchObject({ chargedTokens: 15 });
    expect(
      limiter
        .status()
        .dimensions.map(({ used }) => used)
        .slice(0, 3),
    ).toEqual([15, 10, 0]);
  });

  it('a deadline that is no number is refused as `internal`', () => {
    const limiter = limiterOf(1);
    expect(() => enter(limiter, NaN)).toThrow(GatewayError);
    expect(limiter.status().waiting).toBe(0);
  });
});
