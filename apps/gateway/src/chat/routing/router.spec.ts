import type { Target } from '@weir/kernel';
import {
  no,
  requestsOf,
  RoutedHouse,
  slotsOf,
  type Outcome,
  type RoutedHouseOptions,
} from './testing/routed-house.js';

const A: Target = { account: 'a', model: 'm' };
const B: Target = { account: 'b', model: 'm' };
const Z: Target = { account: 'z', model: 'small' };

function house(options: Partial<RoutedHouseOptions> = {}): RoutedHouse {
  return new RoutedHouse({ targets: [A, B, Z], ...options });
}

const POOL = { targets: [A, B] as const };

function accountsOf(outcomes: readonly Outcome[]): readonly (string | undefined)[] {
  return outcomes.map(({ account, error }) => account ?? error?.code);
}

async function all(
  work: readonly Promise<Outcome>[],
  of: RoutedHouse,
  ms: number,
): Promise<readonly Outcome[]> {
  await of.clock.advance(ms);
  return Promise.all(work);
}

describe('Router', () => {
  it('takes the target that is free, the earlier of equals', async () => {
    const rooms = house({ dimensions: [slotsOf('a', 1), slotsOf('b', 1)] });
    const outcomes = await all([rooms.ask(POOL), rooms.ask(POOL)], rooms, 200);
    expect(accountsOf(outcomes)).toEqual(['a', 'b']);
  });

  it('keeps a conversation where it was answered, while that target is well', async () => {
    const rooms = house({ dimensions: [slotsOf('a', 1)] });
    const blocker = rooms.ask({ targets: [A] });
    const ask = (): Promise<Outcome> => rooms.ask({ ...POOL, conversation: 'c' });
    const [first] = await all([ask()], rooms, 200);
    expect((await blocker).account).toBe('a');
    expect(first?.account).toBe('b');
    const [second] = await all([ask()], rooms, 200);
    expect(second?.account).toBe('b');
    const [other] = await all([rooms.ask(POOL)], rooms, 200);
    expect(other?.account).toBe('a');
  });

  it('lets a conversation go elsewhere when its target is not well', async () => {
    let down = false;
    const rooms = house({
      provider: ({ account }) => ({
        afterMs: 10,
        ...(down && account === 'a' ? { error: no('quota_exhausted') } : {}),
      }),
    });
    const ask = (): Promise<Outcome> => rooms.ask({ ...POOL, conversation: 'c' });
    expect(accountsOf(await all([ask()], rooms, 100))).toEqual(['a']);
    down = true;
    expect(accountsOf(await all([ask()], rooms, 100))).toEqual(['b']);
    expect(accountsOf(await all([ask()], rooms, 100))).toEqual(['b']);
  });

  it('moves those who wait for an account that pauses to one that is sooner, with their age', async () => {
    const rooms = house({
      dimensions: [slotsOf('a', 1), slotsOf('b', 1)],
      provider: ({ account }, now) =>
        account === 'a' && now < 2_000
          ? { afterMs: 50, error: no('rate_limit_requests', { hintMs: 30_000, upstreamStatus: 429 }) }
          : { afterMs: 100 },
    });
    const outcomes = await all(
      Array.from({ length: 6 }, () => rooms.ask(POOL)),
      rooms,
      60_000,
    );
    expect(accountsOf(outcomes)).toEqual(['b', 'b', 'b', 'b', 'b', 'b']);
    const times = outcomes.map(({ at }) => at);
    expect(Math.max(...times)).toBeLessThan(2_000);
    // The one that met the 429 kept its age: only the one under way and the one whose turn it was came before it.
    expect(times.filter((at) => at < (times[0] ?? 0))).toHaveLength(2);
  });

  it('lets nobody who came later take what an account in trouble made others wait for', async () => {
    const rooms = house({
      dimensions: [requestsOf('a', 10, 10_000), requestsOf('b', 10, 10_000)],
      provider: ({ account }) =>
        account === 'a'
          ? { afterMs: 500, error: no('rate_limit_requests', { hintMs: 40_000, upstreamStatus: 429 }) }
          : { afterMs: 10 },
    });
    const older = Array.from({ length: 10 }, () => rooms.ask(POOL));
    await rooms.clock.advance(600);
    const younger: Promise<Outcome>[] = [];
    for (let count = 0; count < 20; count += 1) {
      younger.push(rooms.ask({ targets: [B] }));
      await rooms.clock.advance(900);
    }
    await rooms.clock.advance(60_000);
    const last = Math.max(...(await Promise.all(older)).map(({ at }) => at));
    const passed = (await Promise.all(younger)).filter(({ at }) => at < last);
    expect(passed).toEqual([]);
  });

  it('lets those who wait for an account that hangs take the room that another has', async () => {
    let hangs = 2;
    const rooms = house({
      dimensions: [slotsOf('a', 2), requestsOf('b', 10, 10_000)],
      provider: ({ account }) => (account === 'a' && hangs-- > 0 ? { afterMs: 1_000_000 } : { afterMs: 10 }),
    });
    // Holds of a are known to be short, so everybody thinks that a is soon free.
    hangs = 0;
    await all([rooms.ask({ targets: [A] }), rooms.ask({ targets: [A] })], rooms, 100);
    hangs = 2;
    const stuck = [rooms.ask({ targets: [A] }), rooms.ask({ targets: [A] })];
    await rooms.clock.advance(0);
    expect(stuck).toHaveLength(2);
    const waiting = Array.from({ length: 8 }, () => rooms.ask(POOL));
    const served = await all(waiting, rooms, 20_000);
    expect(accountsOf(served)).toEqual(Array.from({ length: 8 }, () => 'b'));
  });

  it('goes to the fallback only where no target can serve, and comes back', async () => {
    let down = true;
    const rooms = house({
      breaker: { minAttempts: 1, openMs: 1_000 },
      provider: ({ account }) => ({
        afterMs: 10,
        ...(down && account === 'a' ? { error: no('transient', { upstreamStatus: 500 }) } : {}),
      }),
    });
    const ask = (): Promise<Outcome> => rooms.ask({ targets: [A], fallback: [Z] });
    // The first failure opens the breaker; its request does not wait for the probe.
    expect(accountsOf(await all([ask()], rooms, 500))).toEqual(['z']);
    expect(accountsOf(await all([ask()], rooms, 100))).toEqual(['z']);
    down = false;
    await rooms.clock.advance(1_000);
    expect(accountsOf(await all([ask()], rooms, 100))).toEqual(['a']);
    expect(rooms.calls.map(({ account }) => account)).toEqual(['a', 'z', 'z', 'a']);
  });

  it('tells at once when everything is parked, and until when', async () => {
    const rooms = house({
      provider: () => ({ afterMs: 10, error: no('quota_exhausted', { hintMs: 5_000 }) }),
    });
    const [spent] = await all([rooms.ask({ targets: [A] })], rooms, 10);
    expect(spent?.error?.failure).toBe('quota_exhausted');
    const [refused] = await all([rooms.ask({ targets: [A] })], rooms, 0);
    expect(refused?.error).toMatchObject({ code: 'account_parked', hintMs: 5_000, retryable: false });
    expect(rooms.calls).toHaveLength(1);
    await rooms.clock.advance(5_000);
    await all([rooms.ask({ targets: [A] })], rooms, 10);
    expect(rooms.calls).toHaveLength(2);
  });

  it('refuses those who wait for an account when it is parked, and un-parks with a reload', async () => {
    const rooms = house({
      dimensions: [slotsOf('a', 1)],
      provider: (_, now) => ({ afterMs: 10, ...(now < 1_005 ? { error: no('quota_exhausted') } : {}) }),
    });
    const outcomes = await all(
      Array.from({ length: 3 }, () => rooms.ask({ targets: [A] })),
      rooms,
      10,
    );
    expect(outcomes.map(({ error }) => error?.code)).toEqual([
      'upstream_unavailable',
      'account_parked',
      'account_parked',
    ]);
    expect(outcomes[1]?.error?.hintMs).toBe(60_000);
    expect(rooms.lines).toMatchObject([
      { event: 'parked', fields: { account: 'a', reason: 'quota_exhausted' } },
    ]);
    expect(rooms.health.parkedAccounts()).toEqual([{ account: 'a', reason: 'quota_exhausted' }]);
    rooms.version = {};
    expect(accountsOf(await all([rooms.ask({ targets: [A] })], rooms, 10))).toEqual(['a']);
  });

  it('leaves neither a timer nor a waiter behind', async () => {
    const rooms = house({ dimensions: [slotsOf('a', 1), slotsOf('b', 1)] });
    const gone = new AbortController();
    const asked = Array.from({ length: 9 }, (_, index) =>
      rooms.ask(POOL, index % 2 === 0 ? gone.signal : undefined),
    );
    await rooms.clock.advance(50);
    gone.abort(new Error('gone'));
    await all(asked, rooms, 10_000);
    expect(rooms.clock.armed).toBe(0);
    expect(rooms.limiter.status()).toMatchObject({ waiting: 0, open: 0 });
  });
});
