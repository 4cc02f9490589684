import { seededRandom, type Target } from '@weir/kernel';
import { no, requestsOf, RoutedHouse, slotsOf, type Outcome } from './testing/routed-house.js';

const A: Target = { account: 'a', model: 'm' };
const B: Target = { account: 'b', model: 'm' };

const RATE_PER_S = 20;
const SECONDS = 60;
/** When the provider is well again, in a house whose clock begins at 1 s. */
const WELL_AT = 41_000;

/** A provider that takes 20 a second, and fails a share of them. */
function brownOut(share: number, seed: number, until = Infinity): RoutedHouse {
  const chance = seededRandom(seed);
  return new RoutedHouse({
    targets: [A],
    dimensions: [requestsOf('a', RATE_PER_S * 10, 10_000)],
    provider: (_, now) => ({
      afterMs: 50 + chance.next() * 100,
      ...(now < until && chance.next() < share
        ? { error: no('transient', { upstreamStatus: 500, retryable: true }) }
        : {}),
    }),
  });
}

/** Twice what the provider takes, for a minute. */
async function overload(rooms: RoutedHouse): Promise<readonly Outcome[]> {
  const asked: Promise<Outcome>[] = [];
  for (let count = 0; count < 2 * RATE_PER_S * SECONDS; count += 1) {
    asked.push(rooms.ask({ maxWaitMs: 10_000 }));
    await rooms.clock.advance(1_000 / (2 * RATE_PER_S));
  }
  await rooms.clock.advance(120_000);
  return Promise.all(asked);
}

function breakerLines(rooms: RoutedHouse): readonly string[] {
  return rooms.lines
    .filter(({ event }) => event === 'breaker')
    .map(({ fields }) => (fields as { state: string }).state);
}

describe('a brown-out at twice the load', () => {
  it.each([1, 2, 3])(
    'with 30 %% 500s costs under 1.25 calls a request, and the breaker stays shut (%i)',
    async (seed) => {
      const rooms = brownOut(0.3, seed);
      const outcomes = await overload(rooms);
      const requests = rooms.calls.filter(({ attempt }) => attempt === 1).length;
      expect(requests).toBeGreaterThan(RATE_PER_S * SECONDS * 0.8);
      expect(rooms.calls.length / requests).toBeLessThan(1.25);
      expect(breakerLines(rooms)).toEqual([]);
      expect(outcomes.filter(({ account }) => account === 'a').length).toBeGreaterThan(requests * 0.65);
    },
  );

  it.each([1, 2, 3])(
    'with 80 %% opens the breaker, which probes 1, 2, 4 and closes within 2 rounds of recovery (%i)',
    async (seed) => {
      const rooms = brownOut(0.8, seed, WELL_AT);
      await overload(rooms);
      const states = breakerLines(rooms);
      expect(states[0]).toBe('open');
      expect(states.at(-1)).toBe('closed');
      expect(states.filter((state) => state === 'closed')).toHaveLength(1);
      const roundsAfter = rooms.lines.filter(
        ({ event, fields, at }) =>
          event === 'breaker' && at >= WELL_AT && (fields as { state: string }).state === 'half_open',
      );
      expect(roundsAfter.length).toBeLessThanOrEqual(2);
      // Between its opening and recovery hardly anything went out.
      const opened = rooms.lines[0]?.at ?? 0;
      expect(opened).toBeLessThan(5_000);
      const probes = rooms.calls.filter(({ at }) => at > opened + 200 && at < WELL_AT);
      expect(probes.length).toBeLessThan(20);
    },
  );

  it('admits exactly 1, then 2, then 4 while it probes, in the order in which they wait', async () => {
    let well = false;
    const rooms = new RoutedHouse({
      targets: [A],
      breaker: { minAttempts: 4, openMs: 5_000 },
      provider: () =>
        well ? { afterMs: 100 } : { afterMs: 10, error: no('transient', { upstreamStatus: 503 }) },
      retry: { maxAttempts: 1 },
    });
    const failed = Array.from({ length: 4 }, () => rooms.ask());
    await rooms.clock.advance(10);
    await Promise.all(failed);
    well = true;
    const waiting = Array.from({ length: 20 }, () => rooms.ask());
    await rooms.clock.advance(4_999);
    expect(rooms.calls).toHaveLength(4);
    await rooms.clock.advance(2_000);
    const outcomes = await Promise.all(waiting);
    const rounds = Map.groupBy(rooms.calls.slice(4), ({ at }) => at);
    expect([...rounds.values()].map((calls) => calls.length)).toEqual([1, 2, 4, 13]);
    const times = outcomes.map(({ at }) => at);
    expect(times).toEqual([...times].sort((a, b) => a - b));
  });

  it('does not take answers that are still under way for probes', async () => {
    const rooms = new RoutedHouse({
      targets: [A],
      breaker: { minAttempts: 4, openMs: 1_000 },
      retry: { maxAttempts: 1 },
      provider: (_, now) => {
        if (now === 1_000) return { afterMs: 3_000 };
        return now < 1_100
          ? { afterMs: 10, error: no('transient', { upstreamStatus: 500 }) }
          : { afterMs: 5_000 };
      },
    });
    const old = Array.from({ length: 3 }, () => rooms.ask());
    await rooms.clock.advance(1);
    const failed = Array.from({ length: 4 }, () => rooms.ask());
    await rooms.clock.advance(10);
    const waiting = Array.from({ length: 5 }, () => rooms.ask());
    // The probe goes at 2.011 s and answers at 7.011 s; the three others end at 4 s and free nothing.
    await rooms.clock.advance(5_000);
    expect(rooms.calls).toHaveLength(3 + 4 + 1);
    await rooms.clock.advance(30_000);
    await Promise.all([...old, ...failed, ...waiting]);
    expect(rooms.calls).toHaveLength(3 + 4 + 5);
  });

  it('keeps waiters queued whose deadline is after the next probe, and tells the others at once when it is', async () => {
    const rooms = new RoutedHouse({
      targets: [A],
      breaker: { minAttempts: 1, openMs: 5_000 },
      retry: { maxAttempts: 1 },
      provider: (_, now) => ({
        afterMs: 10,
        ...(now < 2_000 ? { error: no('transient', { upstreamStatus: 500 }) } : {}),
      }),
    });
    const first = rooms.ask();
    await rooms.clock.advance(10);
    expect((await first).error?.code).toBe('upstream_unavailable');
    const patient = rooms.ask({ maxWaitMs: 6_000 });
    const hasty = await rooms.ask({ maxWaitMs: 1_000 });
    expect(hasty).toMatchObject({ at: 1_010, error: { code: 'circuit_open', hintMs: 5_000 } });
    await rooms.clock.advance(5_020);
    expect((await patient).account).toBe('a');
  });

  it('refuses those who wait already, where the next probe comes too late for them', async () => {
    const rooms = new RoutedHouse({
      targets: [A],
      breaker: { minAttempts: 1, openMs: 5_000 },
      dimensions: [slotsOf('a', 1)],
      retry: { maxAttempts: 1 },
      provider: (_, now) => ({
        afterMs: 100,
        ...(now < 2_000 ? { error: no('transient', { upstreamStatus: 500 }) } : {}),
      }),
    });
    const first = rooms.ask();
    const hasty = rooms.ask({ maxWaitMs: 3_000 });
    const patient = rooms.ask();
    await rooms.clock.advance(10_000);
    expect((await first).error?.code).toBe('upstream_unavailable');
    expect(await hasty).toMatchObject({ at: 1_100, error: { code: 'circuit_open', hintMs: 5_000 } });
    expect((await patient).account).toBe('a');
  });

  it('is over for a target that others stand in for: it is probed all the same', async () => {
    let down = true;
    const rooms = new RoutedHouse({
      targets: [B, A],
      breaker: { minAttempts: 1, openMs: 1_000 },
      provider: ({ account }) => ({
        afterMs: 10,
        ...(down && account === 'a' ? { error: no('transient', { upstreamStatus: 500 }) } : {}),
      }),
      retry: { maxAttempts: 1 },
    });
    const alone = rooms.ask({ targets: [A] });
    await rooms.clock.advance(10);
    await alone;
    down = false;
    for (let count = 0; count < 20; count += 1) {
      await rooms.clock.advance(200);
      const asked = rooms.ask();
      await rooms.clock.advance(10);
      expect((await asked).error).toBeUndefined();
    }
    expect(rooms.health.breakers().map(({ state }) => state)).toEqual(['closed', 'closed']);
  });

  it('says circuit_open to who reaches its deadline while probes fail', async () => {
    const rooms = new RoutedHouse({
      targets: [A],
      breaker: { minAttempts: 1, openMs: 1_000 },
      retry: { maxAttempts: 1 },
      provider: () => ({ afterMs: 10, error: no('transient', { upstreamStatus: 500 }) }),
    });
    const asked = [rooms.ask(), rooms.ask({ maxWaitMs: 60_000 })];
    await rooms.clock.advance(10);
    const late = rooms.ask({ maxWaitMs: 1_500 });
    const later = rooms.ask({ maxWaitMs: 1_500 });
    await rooms.clock.advance(60_000);
    await Promise.all(asked);
    // One of them was the probe, and failed; the other is told when the next one goes.
    expect((await late).error?.code).toBe('upstream_unavailable');
    expect((await later).error?.code).toBe('circuit_open');
    expect((await later).at).toBeLessThanOrEqual(2_510);
    expect((await later).error?.hintMs).toBeGreaterThan(0);
  });

  it('of one account does not touch another: nobody waits, nobody fails', async () => {
    const rooms = new RoutedHouse({
      targets: [A, B],
      breaker: { minAttempts: 10 },
      dimensions: [slotsOf('a', 4), slotsOf('b', 10)],
      provider: ({ account }) => ({
        afterMs: 20,
        ...(account === 'a' ? { error: no('overloaded', { upstreamStatus: 503 }) } : {}),
      }),
    });
    const alone: Promise<Outcome>[] = [];
    const pooled: Promise<Outcome>[] = [];
    for (let count = 0; count < 200; count += 1) {
      alone.push(rooms.ask({ targets: [B] }));
      pooled.push(rooms.ask({ targets: [A, B] }));
      await rooms.clock.advance(25);
    }
    await rooms.clock.advance(60_000);
    for (const outcome of await Promise.all([...alone, ...pooled])) expect(outcome.account).toBe('b');
    const [ofA, ofB] = rooms.health.breakers();
    expect(ofA?.state).not.toBe('closed');
    expect(ofB?.state).toBe('closed');
    expect(rooms.calls.filter(({ account }) => account === 'a').length).toBeLessThan(30);
  });

  it('takes slots from an overloaded account and gives them back', async () => {
    let overloaded = true;
    const rooms = new RoutedHouse({
      targets: [A],
      concurrency: { a: 10 },
      dimensions: [slotsOf('a', 10)],
      provider: () => ({
        afterMs: 20,
        ...(overloaded ? { error: no('overloaded', { upstreamStatus: 529 }) } : {}),
      }),
      retry: { maxAttempts: 1 },
    });
    const limit = (): number | undefined =>
      rooms.limiter.status().dimensions.find(({ id }) => id === 'account:a:slots')?.limit;
    const failed = [rooms.ask(), rooms.ask()];
    await rooms.clock.advance(20);
    await Promise.all(failed);
    expect(limit()).toBe(7);
    overloaded = false;
    await rooms.clock.advance(20_000);
    const served = rooms.ask();
    await rooms.clock.advance(20);
    await served;
    expect(limit()).toBe(9);
  });
});
