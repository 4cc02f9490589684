import { GatewayError, seededRandom, type FailureClass, type Milliseconds } from '@weir/kernel';
import { FakeClock } from '@weir/testing';
import { createLimiter } from './create-limiter.js';
import type { Limiter, Permit } from './limiter.js';
import type { DimensionSpec } from './quota/dimension.js';
import { dimension } from './testing/scenarios.js';

const FOREVER = new AbortController().signal;

function open(...dimensions: DimensionSpec[]): { limiter: Limiter; clock: FakeClock; take: Take } {
  const clock = new FakeClock(1_000);
  const limiter = createLimiter({
    dimensions,
    teams: [],
    clock,
    timers: clock,
    random: seededRandom(5),
    queue: { maxWaitMs: 1e9, maxDepth: 1e3, maxDepthPerTeam: 1e3 },
    presumeSpent: false,
  });
  const take: Take = async (model = 'm') => {
    const identity = { requestId: 'r', team: 'a', model, operation: 'chat', template: 'none' };
    const turn = limiter.enter({ identity: { ...identity, priority: 'normal' }, deadline: 1e9 });
    const cost = { inputTokens: 10, outputTokens: 0 };
    const permit = await turn.acquire({ target: { account: 'main', model }, cost }, FOREVER);
    turn.leave();
    permit.sent();
    return permit;
  };
  return { limiter, clock, take };
}

type Take = (model?: string) => Promise<Permit>;

function no(failure: FailureClass, hintMs?: Milliseconds): GatewayError {
  const detail = { origin: 'provider', failure, upstreamStatus: 429, sent: true } as const;
  return new GatewayError(
    'upstream_rate_limited',
    'no',
    hintMs === undefined ? detail : { ...detail, hintMs },
  );
}

const pausedFor = (limiter: Limiter): Record<string, Milliseconds> =>
  Object.fromEntries(
    limiter
      .status()
      .dimensions.flatMap(({ id, pausedForMs }) => (pausedForMs > 0 ? [[id, pausedForMs]] : [])),
  );

describe('throttle', () => {
  it('pauses the fuller of the dimensions that count what was refused', async () => {
    const { limiter, take } = open(
      dimension({}, 'requests', 100, { burst: 100 }),
      dimension({}, 'tokens', 1_000, { burst: 1_000 }),
      dimension({ model: 'm' }, 'requests', 4, { burst: 4 }),
      dimension({ model: 'm' }, 'tokens', 50_000, { burst: 50_000 }),
    );
    (await take()).fail(no('rate_limit_requests', 1_000));
    expect(Object.keys(pausedFor(limiter))).toEqual(['model:main/m:requests']);
  });

  it('pauses tokens for tokens, slots for concurrency, and the target where nothing counts it', async () => {
    const { limiter, take } = open(
      dimension({}, 'tokens', 1_000, { burst: 1_000 }),
      dimension({}, 'slots', 9),
    );
    const permits = [await take(), await take(), await take('n')];
    permits[0]?.fail(no('rate_limit_tokens', 1_000));
    expect(Object.keys(pausedFor(limiter))).toEqual(['account:main:tokens']);
    permits[1]?.fail(no('concurrency', 1_000));
    permits[2]?.fail(no('rate_limit_requests', 1_000));
    expect(Object.keys(pausedFor(limiter)).sort()).toEqual([
      'account:main:slots',
      'account:main:tokens',
      'model:main/n:requests',
    ]);
  });

  it('takes the hint as a floor, with upward jitter, and a shorter one shortens nothing', async () => {
    const { limiter, take } = open(dimension({}, 'requests', 100, { burst: 100 }));
    const [first, second] = [await take(), await take()];
    first.fail(no('rate_limit_requests', 10_000));
    const [pause = 0] = Object.values(pausedFor(limiter));
    expect(pause).toBeGreaterThanOrEqual(10_000);
    expect(pause).toBeLessThanOrEqual(11_000);
    second.fail(no('rate_limit_requests', 50));
    expect(Object.values(pausedFor(limiter))).toEqual([pause]);
  });

  it('without a hint pauses at random up to a bound that doubles, once for refusals in flight together', async () => {
    const { limiter, clock, take } = open(dimension({}, 'requests', 100, { burst: 100 }));
    for (let round = 0; round < 12; round += 1) {
      const [one, other] = [await take(), await take()];
      one.fail(no('rate_limit_requests'));
      other.fail(no('rate_limit_requests'));
      const [pause = 0] = Object.values(pausedFor(limiter));
      expect(pause).toBeLessThanOrEqual(Math.min(60_000, 1_000 * 2 ** round));
      await clock.advance(60_000);
    }
    (await take()).settle({ inputTokens: 1, outputTokens: 1 });
    (await take()).fail(no('rate_limit_requests'));
    expect(Object.values(pausedFor(limiter))[0] ?? 0).toBeLessThanOrEqual(1_000);
  });

  it('holds back an overloaded target alone, and only with a hint', async () => {
    const { limiter, take } = open(dimension({}, 'requests', 100, { burst: 100 }));
    (await take()).fail(no('overloaded'));
    expect(pausedFor(limiter)).toEqual({});
    (await take()).fail(no('overloaded', 2_000));
    expect(Object.keys(pausedFor(limiter))).toEqual(['model:main/m:requests']);
    expect((await take('n')).boundBy).toBeUndefined();
  });

  it('refuses at once whoever waits for less than the pause, with the real time to come back', async () => {
    const { limiter, take } = open(dimension({}, 'requests', 2, { burst: 2 }));
    const permit = await take();
    await take();
    const identity = { requestId: 'r', team: 'a', model: 'm', operation: 'chat', template: 'none' };
    const turn = limiter.enter({ identity: { ...identity, priority: 'normal' }, deadline: 21_000 });
    const cost = { inputTokens: 1, outputTokens: 0 };
    const waiting = turn.acquire({ target: { account: 'main', model: 'm' }, cost }, FOREVER);
    permit.fail(no('rate_limit_requests', 30_000));
    await expect(waiting).rejects.toMatchObject({ code: 'wait_exceeds_deadline' });
    await waiting.catch((error: unknown) => {
      expect(error instanceof GatewayError && (error.hintMs ?? 0) >= 30_000).toBe(true);
    });
  });
});
