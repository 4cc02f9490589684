import { GatewayError, toGatewayError, type CallIdentity, type Milliseconds } from '@weir/kernel';
import type { Ask, DimensionSpec, Limiter, LimiterCall, Permit, QueueBounds, Turn } from '@weir/limiter';
import { FakeClock, settled } from './fake-clock.js';

/** What the contract asks a limiter to be built from. Its ledger starts empty. */
export interface LimiterSetup {
  readonly dimensions: readonly DimensionSpec[];
  readonly teams: readonly { readonly id: string; readonly weight: number }[];
  readonly queue: QueueBounds;
  readonly clock: FakeClock;
}

const WINDOW_MS: Milliseconds = 60_000;
const TARGET = { account: 'main', model: 'm' };
const FOREVER = new AbortController().signal;

/** What every implementation of the port `Limiter` has to do, whatever stands behind it. */
export function limiterContract(name: string, make: (setup: LimiterSetup) => Limiter): void {
  const dimension = (
    unit: DimensionSpec['unit'],
    limit: number,
    more: Partial<DimensionSpec> = {},
  ): DimensionSpec => ({
    id: `account:main:${unit}`,
    scope: 'account',
    account: 'main',
    unit,
    limit,
    windowMs: WINDOW_MS,
    shape: { kind: 'sliding' },
    burst: 1_000,
    delaySpreadMs: 0,
    ...more,
  });
  const open = (...dimensions: DimensionSpec[]): { limiter: Limiter; clock: FakeClock } => {
    const clock = new FakeClock(1_000);
    const queue = { maxWaitMs: 600_000, maxDepth: 4, maxDepthPerTeam: 3 };
    return { limiter: make({ dimensions, teams: [{ id: 'one', weight: 1 }], queue, clock }), clock };
  };

  describe(`${name} keeps the contract of Limiter`, () => {
    it('grants at once while there is room, and then makes the next one wait for the window', async () => {
      const { limiter, clock } = open(dimension('requests', 2));
      const permits = [await take(limiter), await take(limiter)];
      const third = pending(take(limiter));
      await clock.advance(WINDOW_MS - 1);
      expect(third.value).toBeUndefined();
      await clock.advance(200);
      expect(third.value?.grantedAt).toBeGreaterThanOrEqual(1_000 + WINDOW_MS);
      expect(third.value?.boundBy).toBe('account:main:requests');
      expect(third.value?.boundRoom).toBe(1);
      expect(permits.map(({ boundRoom }) => boundRoom)).toEqual([undefined, undefined]);
      expect(third.value?.eligibleAt).toBe(1_000);
      expect(new Set([...permits, third.value].map((permit) => permit?.id)).size).toBe(3);
    });

    it('debits every dimension or none', async () => {
      const { limiter } = open(dimension('requests', 10), dimension('tokens', 100));
      await take(limiter, { ask: ask(60, 20) });
      const blocked = pending(take(limiter, { ask: ask(30, 0) }));
      await settled();
      expect(blocked.value).toBeUndefined();
      expect(used(limiter)).toEqual({ requests: 1, tokens: 80 });
    });

    it('ends a permit once: settling corrects the reservation, a second ending does nothing', async () => {
      const { limiter } = open(dimension('tokens', 100));
      const permit = await take(limiter, { ask: ask(60, 20) });
      permit.sent();
      expect(permit.settle({ inputTokens: 50, outputTokens: undefined })).toEqual({
        kind: 'settled',
        reservedTokens: 80,
        chargedTokens: 70,
        refunds: [{ unit: 'tokens', amount: 10, reason: 'overestimate' }],
      });
      expect(permit.settle({ inputTokens: 0, outputTokens: 0 }).kind).toBe('already_ended');
      expect(permit.cancel().refunds).toEqual([]);
      expect(used(limiter)).toEqual({ tokens: 70 });
      expect(limiter.status().open).toBe(0);
    });

    it('keeps the request and gives the tokens back after a 429, and pauses until the whole hint', async () => {
      const { limiter, clock } = open(
        dimension('requests', 10),
        dimension('tokens', 100),
        dimension('slots', 5),
      );
      const permit = await take(limiter, { ask: ask(60, 20) });
      permit.sent();
      const ending = permit.fail(throttled('rate_limit_requests', 2_000));
      expect(ending).toEqual({
        kind: 'rejected',
        reservedTokens: 80,
        chargedTokens: 0,
        refunds: [{ unit: 'tokens', amount: 80, reason: 'throttled' }],
      });
      expect(used(limiter)).toEqual({ requests: 1, tokens: 0, slots: 0 });
      const next = pending(take(limiter));
      await clock.advance(1_999);
      expect(next.value).toBeUndefined();
      await clock.advance(600);
      expect(next.value?.grantedAt).toBeGreaterThanOrEqual(3_000);
    });

    it('gives everything back for what was never sent', async () => {
      const { limiter } = open(dimension('requests', 10), dimension('tokens', 100), dimension('slots', 5));
      (await take(limiter, { ask: ask(60, 20) })).cancel();
      const unsent = new GatewayError('upstream_unavailable', 'connection refused', { failure: 'transient' });
      (await take(limiter, { ask: ask(60, 20) })).fail(unsent);
      expect(used(limiter)).toEqual({ requests: 0, tokens: 0, slots: 0 });
    });

    it('keeps the tokens of what may have run', async () => {
      const { limiter } = open(dimension('tokens', 100), dimension('slots', 5));
      const permit = await take(limiter, { ask: ask(60, 20) });
      permit.sent();
      permit.fail(new GatewayError('upstream_timeout', 'timeout', { failure: 'transient', sent: true }));
      expect(used(limiter)).toEqual({ tokens: 80, slots: 0 });
    });

    it('grants a conversation one after the other, in order, and others beside it', async () => {
      const { limiter } = open(dimension('requests', 10));
      const first = limiter.enter(call({ conversation: 'c' }));
      const second = limiter.enter(call({ conversation: 'c' }));
      const late = pending(second.acquire(ask(1, 1), FOREVER));
      await first.acquire(ask(1, 1), FOREVER);
      await take(limiter, { conversation: 'd' });
      await settled();
      expect(late.value).toBeUndefined();
      first.leave();
      await settled();
      expect(late.value).toBeDefined();
    });

    it('refuses at once what can never fit', async () => {
      const { limiter } = open(dimension('tokens', 100));
      expect(limiter.eta(call().identity, ask(90, 20))).toBe(Infinity);
      await expect(take(limiter, { ask: ask(90, 20) })).rejects.toMatchObject({
        code: 'cost_exceeds_capacity',
      });
      expect(used(limiter)).toEqual({ tokens: 0 });
    });

    it('refuses at once, with the time to come back, what cannot be granted in time', async () => {
      const { limiter, clock } = open(dimension('requests', 1));
      await take(limiter);
      const refused = take(limiter, { deadline: clock.now() + 10_000 });
      const error = await failureOf(refused);
      expect(error).toMatchObject({ code: 'wait_exceeds_deadline', origin: 'gateway' });
      expect(error.hintMs).toBeGreaterThanOrEqual(WINDOW_MS - 1);
      expect(error.message).toContain('account:main:requests');
      expect(clock.armed).toBe(0);
    });

    it('never grants after the deadline', async () => {
      const { limiter, clock } = open(dimension('requests', 1));
      await take(limiter);
      const waiting = pending(take(limiter, { deadline: clock.now() + WINDOW_MS - 5_000 }));
      await clock.advance(WINDOW_MS * 2);
      expect(waiting.error).toMatchObject({ code: 'wait_exceeds_deadline' });
      expect(limiter.status().waiting).toBe(0);
    });

    it('lets go of a waiter whose signal is aborted, and leaves nothing behind', async () => {
      const { limiter, clock } = open(dimension('requests', 1));
      await take(limiter);
      const controller = new AbortController();
      const waiting = pending(limiter.enter(call()).acquire(ask(1, 1), controller.signal));
      const before = JSON.stringify(limiter.status().dimensions);
      controller.abort(new Error('gone'));
      await settled();
      expect(waiting.error).toMatchObject({ message: 'gone' });
      expect(limiter.status().waiting).toBe(0);
      expect(JSON.stringify(limiter.status().dimensions)).toBe(before);
      expect(clock.armed).toBe(0);
    });

    it('bounds what waits, of a team and in all', async () => {
      const { limiter } = open(dimension('requests', 1));
      await take(limiter);
      const waiting = [1, 2, 3].map(() => pending(take(limiter)));
      await settled();
      expect(refusalOf(() => limiter.enter(call())).code).toBe('queue_full');
      waiting.push(pending(take(limiter, { team: 'two' })));
      await settled();
      expect(refusalOf(() => limiter.enter(call({ team: 'three' }))).hintMs).toBeGreaterThan(0);
      expect(waiting.every(({ value, error }) => value === undefined && error === undefined)).toBe(true);
    });

    it('wakes waiters when a limit changes', async () => {
      const { limiter } = open(dimension('requests', 1));
      await take(limiter);
      const waiting = pending(take(limiter));
      await settled();
      expect(limiter.setLimit('nonsense', 5)).toBe(false);
      limiter.observe(TARGET, { limitRequests: 1 });
      await settled();
      expect(waiting.value).toBeUndefined();
      expect(limiter.setLimit('account:main:requests', 5)).toBe(true);
      await settled();
      expect(waiting.value).toBeDefined();
    });

    it('refuses waiters and newcomers once it drains; permits that are out stay valid', async () => {
      const { limiter, clock } = open(dimension('requests', 1), dimension('tokens', 100));
      const permit = await take(limiter, { ask: ask(10, 10) });
      const waiting = pending(take(limiter));
      await settled();
      limiter.drain();
      await settled();
      expect(waiting.error).toMatchObject({ code: 'draining' });
      expect(refusalOf(() => limiter.enter(call())).code).toBe('draining');
      expect(permit.settle({ inputTokens: 1, outputTokens: 1 }).chargedTokens).toBe(2);
      expect(limiter.status()).toMatchObject({ draining: true, waiting: 0, open: 0 });
      expect(clock.armed).toBe(0);
    });
  });
}

interface Wish extends Partial<CallIdentity> {
  readonly deadline?: Milliseconds;
  readonly ask?: Ask;
}

function call({ deadline = 1e9, ...identity }: Wish = {}): LimiterCall {
  return {
    identity: {
      requestId: 'r',
      team: 'one',
      model: 'm',
      operation: 'chat',
      template: 'none',
      priority: 'normal',
      ...identity,
    },
    deadline,
  };
}

function ask(inputTokens: number, outputTokens: number): Ask {
  return { target: TARGET, cost: { inputTokens, outputTokens } };
}

async function take(limiter: Limiter, { ask: wanted = ask(1, 1), ...wish }: Wish = {}): Promise<Permit> {
  const turn: Turn = limiter.enter(call(wish));
  try {
    return await turn.acquire(wanted, FOREVER);
  } finally {
    turn.leave();
  }
}

function throttled(failure: 'rate_limit_requests', hintMs: Milliseconds): GatewayError {
  return new GatewayError('upstream_rate_limited', 'slow down', {
    origin: 'provider',
    failure,
    hintMs,
    upstreamStatus: 429,
    retryable: true,
    sent: true,
  });
}

async function failureOf(promise: Promise<unknown>): Promise<GatewayError> {
  return promise.then(() => {
    throw new Error('It should have been refused.');
  }, toGatewayError);
}

function refusalOf(act: () => unknown): GatewayError {
  try {
    act();
  } catch (thrown) {
    return toGatewayError(thrown);
  }
  throw new Error('It should have been refused.');
}

function pending<T>(promise: Promise<T>): { value: T | undefined; error: unknown } {
  const seen: { value: T | undefined; error: unknown } = { value: undefined, error: undefined };
  promise.then(
    (value) => {
      seen.value = value;
    },
    (error: unknown) => {
      seen.error = error;
    },
  );
  return seen;
}

/** What the ledger holds, by unit; an unlimited dimension says nothing. */
function used(limiter: Limiter): Record<string, number> {
  const finite = limiter.status().dimensions.filter(({ limit }) => limit !== Infinity);
  return Object.fromEntries(finite.map(({ unit, used: amount }) => [unit, amount]));
}
