import { seededRandom, type Milliseconds } from '@weir/kernel';
import { FakeClock, settled } from '@weir/testing';
import fc from 'fast-check';
import { createLimiter } from './create-limiter.js';
import type { Permit } from './limiter.js';
import type { DimensionSpec, Shape } from './quota/dimension.js';

const WINDOW_MS: Milliseconds = 6_000;
const FOREVER = new AbortController().signal;

function limiterOf(clock: FakeClock, more: Partial<DimensionSpec> = {}) {
  const requests: DimensionSpec = {
    id: 'requests',
    scope: 'account',
    account: 'main',
    unit: 'requests',
    limit: 2,
    windowMs: WINDOW_MS,
    shape: { kind: 'sliding' },
    burst: 1_000,
    delaySpreadMs: 0,
    ...more,
  };
  return createLimiter({
    dimensions: [requests, { ...requests, id: 'tokens', unit: 'tokens', limit: 1_000 }],
    teams: [{ id: 'one', weight: 1 }],
    queue: { maxWaitMs: 1e9, maxDepth: 1_000, maxDepthPerTeam: 1_000 },
    clock,
    timers: clock,
    random: seededRandom(1),
    presumeSpent: false,
  });
}

function acquire(limiter: ReturnType<typeof limiterOf>): Promise<Permit> {
  const identity = {
    requestId: 'r',
    team: 'one',
    model: 'm',
    operation: 'chat',
    template: 'none',
    priority: 'normal',
  } as const;
  return limiter
    .enter({ identity, deadline: 1e9 })
    .acquire(
      { target: { account: 'main', model: 'm' }, cost: { inputTokens: 10, outputTokens: 10 } },
      FOREVER,
    );
}

describe('a debit counts from the departure of its attempt, not from its grant', () => {
  it('so that a stall between the two does not let a window hold too much at the provider', async () => {
    const clock = new FakeClock(1_000);
    const limiter = limiterOf(clock);
    const first = await acquire(limiter);
    const second = await acquire(limiter);
    first.sent();
    await clock.advance(600);
    second.sent();
    const grants: Milliseconds[] = [];
    for (let each = 0; each < 2; each += 1) {
      void acquire(limiter).then((permit) => {
        permit.sent();
        grants.push(permit.grantedAt);
      });
    }
    await clock.advance(2 * WINDOW_MS);
    expect(grants).toHaveLength(2);
    expect(grants[0]).toBeGreaterThanOrEqual(1_000 + WINDOW_MS);
    expect(grants[0]).toBeLessThan(1_100 + WINDOW_MS);
    expect(grants[1]).toBeGreaterThanOrEqual(1_600 + WINDOW_MS);
  });

  it('and its settlement corrects it where it then lies', async () => {
    const clock = new FakeClock(1_000);
    const limiter = limiterOf(clock);
    const permit = await acquire(limiter);
    await clock.advance(600);
    permit.sent();
    permit.settle({ inputTokens: 5, outputTokens: 2 });
    const used = (): (readonly [string, number])[] =>
      limiter
        .status()
        .dimensions.flatMap(({ id, used: amount, limit }) =>
          limit === Infinity ? [] : [[id, amount] as const],
        );
    expect(used()).toEqual([
      ['requests', 1],
      ['tokens', 7],
    ]);
    await clock.advance(WINDOW_MS - 100);
    expect(used()).toEqual([
      ['requests', 1],
      ['tokens', 7],
    ]);
    await clock.advance(200);
    expect(used()).toEqual([
      ['requests', 0],
      ['tokens', 0],
    ]);
  });

  const shapes: readonly Shape[] = [
    { kind: 'unknown' },
    { kind: 'sliding' },
    { kind: 'fixed' },
    { kind: 'quantum', quantumMs: 1_000 },
  ];

  it.each(shapes)(
    'for every stall under a window: never more than the quota in any window: $kind',
    async (shape) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.integer({ min: 0, max: 3_000 }), { minLength: 20, maxLength: 40 }),
          async (stalls) => {
            const clock = new FakeClock(1_000);
            const limiter = limiterOf(clock, { limit: 12, burst: 4, shape });
            const sent: Milliseconds[] = [];
            for (const stall of stalls) {
              void acquire(limiter).then((permit) => {
                clock.after(stall, () => {
                  permit.sent();
                  sent.push(clock.now());
                });
              });
            }
            await clock.advance(20 * WINDOW_MS);
            await settled();
            expect(sent).toHaveLength(stalls.length);
            const inOrder = sent.toSorted((a, b) => a - b);
            const fullest = Math.max(
              ...inOrder.map((end) => inOrder.filter((at) => at > end - WINDOW_MS && at <= end).length),
            );
            expect(fullest).toBeLessThanOrEqual(12);
          },
        ),
        { numRuns: 40, seed: 20261129 },
      );
    },
  );
});
