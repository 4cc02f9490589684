import { GatewayError, seededRandom, type Milliseconds } from '@weir/kernel';
import { FakeClock } from '@weir/testing';
import { createLimiter } from '../index.js';

/** A provider of our own: so many calls in each half minute of its own clock, and whole seconds in its hints. */
class HalfMinutes {
  calls = 0;
  refusals = 0;
  private half = -1;
  private taken = 0;

  constructor(private readonly perHalf: number) {}

  /** What it answers to a call: undefined for yes, or a no with its hint. */
  call(now: Milliseconds): GatewayError | undefined {
    const half = Math.floor(now / 30_000);
    if (half !== this.half) [this.half, this.taken] = [half, 0];
    this.calls += 1;
    this.taken += 1;
    if (this.taken <= this.perHalf) return undefined;
    this.refusals += 1;
    const hintMs = Math.ceil(30 - (now % 30_000) / 1000) * 1000;
    const detail = { origin: 'provider', failure: 'rate_limit_requests', sent: true, hintMs } as const;
    return new GatewayError('upstream_rate_limited', 'too many requests', detail);
  }
}

/** Sends so many requests through a limiter that believes in so many a minute; tells what the provider saw. */
export async function drive(requests: number, perMinute: number): Promise<HalfMinutes & { seconds: number }> {
  const clock = new FakeClock();
  const provider = new HalfMinutes(30);
  const target = { account: 'main', model: 'm' };
  const limiter = createLimiter({
    dimensions: [
      {
        id: 'account:main:requests',
        scope: 'account',
        account: 'main',
        unit: 'requests',
        limit: perMinute,
        windowMs: 60_000,
        shape: { kind: 'unknown' },
        delaySpreadMs: 250,
      },
    ],
    teams: [{ id: 'search', weight: 1 }],
    queue: { maxWaitMs: 600_000, maxDepth: 10_000, maxDepthPerTeam: 2_000 },
    clock,
    timers: clock,
    random: seededRandom(1),
  });

  const request = async (requestId: string): Promise<void> => {
    const about = {
      team: 'search',
      model: 'm',
      operation: 'chat',
      template: 'none',
      priority: 'normal',
    } as const;
    const turn = limiter.enter({ identity: { requestId, ...about }, deadline: 600_000 });
    const cost = { inputTokens: 900, outputTokens: 100 };
    for (let answer: GatewayError | undefined, served = false; !served; served = answer === undefined) {
      const permit = await turn.acquire({ target, cost }, new AbortController().signal);
      permit.sent();
      answer = provider.call(clock.now());
      if (answer) permit.fail(answer);
      else permit.settle({ inputTokens: 880, outputTokens: 64 });
    }
    turn.leave();
  };

  const all = Promise.all(Array.from({ length: requests }, (_, n) => request(`request-${n}`)));
  while (limiter.status().waiting > 0) await clock.advance(1_000);
  await all;
  return Object.assign(provider, { seconds: clock.now() / 1000 });
}
