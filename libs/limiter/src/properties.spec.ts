import * as fc from 'fast-check';
import { build, debitsPartly, paced, refundsRequests, strictlyByTeam } from './testing/makers.js';
import { amountFor, atomicity, CHECKED, fairness, refusalsGiveNothing, start } from './testing/properties.js';
import {
  anyScenario,
  dimension,
  TEAMS,
  wish as anyWish,
  WINDOW_MS,
  type Scenario,
} from './testing/scenarios.js';
import type { Simulation, Wish } from './testing/simulation.js';

describe('paced limiter', () => {
  it('property 3: a refused, cancelled or expired acquire leaves every ledger as it was', async () => {
    await fc.assert(atomicity(paced), CHECKED);
  });

  it('property 4: debits are settled usage and open reservations, whatever ends twice or late', async () => {
    await fc.assert(
      fc.asyncProperty(anyScenario, async (scenario) => {
        const { simulation, recorder } = start(paced, scenario);
        await simulation.run();
        const before = recorder.changes.length;
        for (const { permit } of simulation.ended) {
          expect(permit.settle({ inputTokens: 0, outputTokens: 0 }).kind).toBe('already_ended');
          expect(permit.cancel().refunds).toEqual([]);
        }
        expect(recorder.changes).toHaveLength(before);
        for (const spec of scenario.dimensions) {
          const charged = simulation.ended.flatMap(({ wish, ending }) => {
            if (amountFor(spec, wish) === undefined || spec.unit === 'slots') return [];
            if (spec.unit === 'tokens') return [ending.chargedTokens];
            return [ending.refunds.some(({ unit }) => unit === 'requests') ? 0 : 1];
          });
          const sum = charged.reduce((total: number, each) => total + each, 0);
          expect(recorder.sum(spec.id, 'debit', 'correct')).toBeCloseTo(sum, 6);
        }
      }),
      CHECKED,
    );
  });

  it('property 4: a settlement after the window never raises room', async () => {
    const usage = { reserved: fc.integer({ min: 1, max: 500 }), used: fc.integer({ min: 0, max: 500 }) };
    const late = fc.integer({ min: WINDOW_MS * 1.1, max: WINDOW_MS * 3 });
    await fc.assert(
      fc.asyncProperty(fc.record({ ...usage, late }), async ({ reserved, used, late: afterMs }) => {
        const outcomes = [{ kind: 'settle', afterMs, input: used, output: 0 } as const];
        const wishes = [
          { ...simple('a', 0), input: reserved, outcomes },
          { ...simple('a', afterMs - 10), input: 300 },
        ];
        const { simulation } = start(paced, {
          dimensions: [dimension({}, 'tokens', 1_000)],
          teams: TEAMS,
          wishes,
        });
        const rooms: number[] = [];
        const look = (): void => {
          rooms.push(simulation.limiter.status().dimensions[0]?.room ?? NaN);
        };
        [simulation.beforeEnd, simulation.afterEnd] = [look, look];
        await simulation.run({ until: afterMs });
        expect(rooms[1]).toBe(rooms[0]);
      }),
      CHECKED,
    );
  });

  it('property 5: a 429 gives no request back, and cancelling gives back exactly its own debit', async () => {
    await fc.assert(refusalsGiveNothing(paced), CHECKED);
  });

  it('property 7: a saturated model does not move the grants of another one', async () => {
    const load = fc.array(
      fc.record({ at: fc.integer({ min: 0, max: 20_000 }), team: fc.constantFrom('a', 'b') }),
      {
        minLength: 3,
        maxLength: 15,
      },
    );
    const limits = { saturated: fc.integer({ min: 1, max: 3 }), other: fc.integer({ min: 1, max: 6 }) };
    await fc.assert(
      fc.asyncProperty(load, load, fc.record(limits), async (others, crowd, { saturated, other }) => {
        const dimensions = [
          dimension({}, 'requests', 1_000, { burst: 1_000 }),
          dimension({}, 'tokens', 1e6, { burst: 1e6 }),
          dimension({ model: 'm' }, 'requests', saturated),
          dimension({ model: 'n' }, 'requests', other),
        ];
        const mine = others.map(({ at, team }): Wish => ({ ...simple(team, at), model: 'n' }));
        const theirs = crowd.map(({ at, team }): Wish => ({ ...simple(team, at), model: 'm' }));
        const timesOfN = async (wishes: readonly Wish[]): Promise<string[]> => {
          const { simulation } = start(paced, { dimensions, teams: TEAMS, wishes });
          await simulation.run();
          const granted = simulation.granted.filter(({ wish }) => wish.model === 'n');
          return granted.map(({ wish, at }) => `${wish.team} ${at.toFixed(3)}`);
        };
        expect(await timesOfN([...theirs, ...mine])).toEqual(await timesOfN(mine));
      }),
      CHECKED,
    );
  });

  it('property 9: backlogged teams are served by weight over any interval, and idleness is no credit', async () => {
    await fc.assert(fairness(paced), CHECKED);
  });

  it('property 10: a conversation is strictly serial and in order, across retries and departures', async () => {
    await fc.assert(
      fc.asyncProperty(anyScenario, async (scenario) => {
        const { simulation } = start(paced, scenario);
        await simulation.run();
        for (const said of conversations(simulation)) expectSerial(said, scenario.wishes);
      }),
      CHECKED,
    );
  });

  it('property 11: nobody is granted after its deadline, and what can never fit is refused at once', async () => {
    await fc.assert(
      fc.asyncProperty(anyScenario, async (scenario) => {
        const { simulation } = start(paced, scenario);
        await simulation.run();
        for (const { wish, at } of simulation.granted) expect(at).toBeLessThanOrEqual(deadlineOf(wish));
        for (const { wish, at, error, askedAt } of simulation.refused) {
          expect(at).toBeLessThanOrEqual(Math.max(askedAt, deadlineOf(wish)));
          const impossible = scenario.dimensions.some((spec) => (amountFor(spec, wish) ?? 0) > spec.limit);
          expect(error.code === 'cost_exceeds_capacity').toBe(impossible);
          if (impossible) expect(at).toBe(askedAt);
          else expect(error.hintMs).toBeGreaterThan(0);
        }
        expect(simulation.limiter.status()).toMatchObject({ waiting: 0, open: 0 });
      }),
      CHECKED,
    );
  });

  it('property 11: where nothing else happens, a refusal comes at once or at the deadline', async () => {
    const quiet = anyWish.map(({ leavesAfterMs: _, conversation: __, ...rest }) => ({
      ...rest,
      outcomes: [{ kind: 'settle', afterMs: 5 } as const],
    }));
    const scenario = fc.tuple(anyScenario, fc.array(quiet, { maxLength: 25 }));
    await fc.assert(
      fc.asyncProperty(scenario, async ([{ dimensions, teams }, wishes]) => {
        const { simulation } = start(paced, { dimensions, teams, wishes });
        await simulation.run();
        for (const { wish, at, askedAt } of simulation.refused)
          expect([askedAt, deadlineOf(wish)]).toContain(at);
      }),
      CHECKED,
    );
  });

  it('property 12: one timer while anybody waits, none otherwise, and it rings for a reason', async () => {
    await fc.assert(
      fc.asyncProperty(anyScenario, async (scenario) => {
        const { simulation, recorder } = start(paced, scenario);
        const bounds = new Set<string>();
        await simulation.run({
          after: () => {
            const { waiting, flows } = simulation.limiter.status();
            expect(simulation.clock.armed).toBe(waiting > 0 ? 1 : 0);
            for (const { team, model, boundBy, waiting: n } of flows)
              bounds.add(`${team} ${model} ${boundBy} ${n}`);
          },
        });
        const pauses = recorder.changes.filter(({ kind }) => kind === 'pause').length;
        const { granted, refused, ended, sights } = simulation;
        const left = sights.length - granted.length - refused.length - ended.length;
        const reasons = granted.length + refused.length + left + pauses + bounds.size;
        expect(simulation.rings).toBeLessThanOrEqual(reasons + 1);
      }),
      CHECKED,
    );
  });

  it('property 15: nothing is granted on a paused dimension before the hint, and a shorter hint shortens nothing', async () => {
    await fc.assert(
      fc.asyncProperty(anyScenario, async (scenario) => {
        const { simulation, recorder } = start(paced, scenario);
        await simulation.run();
        const until = new Map<string, number>();
        for (const { dimension: id, kind, at } of recorder.changes) {
          if (kind === 'pause') until.set(id, Math.max(until.get(id) ?? 0, at));
          if (kind === 'debit') expect(at).toBeGreaterThanOrEqual(until.get(id) ?? 0);
        }
        const refusals = recorder.changes.filter(({ kind }) => kind === 'throttled');
        for (const { at, amount, dimension: id } of refusals) {
          if (amount > 0) expect(until.get(id)).toBeGreaterThanOrEqual(at + amount);
        }
      }),
      CHECKED,
    );
  });

  it('property 17: the slot of a permit that nobody ends comes back after its lease, its rates never', async () => {
    const leaks = fc.array(fc.boolean(), { minLength: 2, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(leaks, fc.integer({ min: 1, max: 4 }), async (leaking, slots) => {
        const leaseMs = 5_000;
        const wishes = leaking.map((leaks, n): Wish => ({
          ...simple('a', n * 100),
          outcomes: [leaks ? { kind: 'leak' } : settled(50)],
        }));
        const dimensions = [dimension({}, 'slots', slots), dimension({}, 'tokens', 1e6, { burst: 1e6 })];
        const lease: typeof paced = (bench) => build(bench, { slotLeaseMs: leaseMs });
        const { simulation, recorder } = start(lease, { dimensions, teams: TEAMS, wishes });
        simulation.add([simple('b', 200_000), ...Array.from({ length: slots }, () => simple('b', 200_000))]);
        await simulation.run({
          after: () => {
            expect(simulation.limiter.status().dimensions[0]?.used).toBeLessThanOrEqual(slots);
          },
        });
        expect(simulation.granted).toHaveLength(leaking.length + slots + 1);
        expect(recorder.sum('account:main:tokens', 'debit', 'correct')).toBe(simulation.granted.length * 10);
      }),
      CHECKED,
    );
  });

  it('property 20: a missing usage block settles at the reservation', async () => {
    await fc.assert(
      fc.asyncProperty(anyScenario, async (scenario) => {
        const { simulation } = start(paced, scenario);
        const usages: (readonly [number | undefined, number | undefined])[] = [];
        simulation.beforeEnd = (_permit, outcome) => {
          if (outcome.kind === 'settle') usages.push([outcome.input, outcome.output]);
        };
        await simulation.run();
        const settlements = simulation.ended.filter(({ ending }) => ending.kind === 'settled');
        expect(settlements).toHaveLength(usages.length);
        settlements.forEach(({ ending, permit: { reserved } }, index) => {
          const [input, output] = usages[index] ?? [];
          expect(ending.chargedTokens).toBe(
            (input ?? reserved.inputTokens) + (output ?? reserved.outputTokens),
          );
          const refunded = ending.refunds.reduce((sum, { amount }) => sum + amount, 0);
          expect(refunded).toBe(Math.max(0, ending.reservedTokens - ending.chargedTokens));
        });
      }),
      CHECKED,
    );
  });
});

describe('a broken limiter is found out', () => {
  it.each([
    ['partial debits', 'property 3', () => fc.check(atomicity(debitsPartly), CHECKED)],
    ['a refund after a 429', 'property 5', () => fc.check(refusalsGiveNothing(refundsRequests), CHECKED)],
    ['strict priority', 'property 9', () => fc.check(fairness(strictlyByTeam), CHECKED)],
  ])('%s fails %s', async (_fault, _property, check) => {
    expect((await check()).failed).toBe(true);
  });
});

function settled(afterMs: number): Wish['outcomes'][number] {
  return { kind: 'settle', afterMs };
}

function simple(team: string, at: number): Wish {
  return { at, team, model: 'm', input: 10, output: 0, patienceMs: 1e9, outcomes: [settled(10)] };
}

function deadlineOf(wish: Wish): number {
  return 10_000 + wish.at + wish.patienceMs;
}

function conversations(simulation: Simulation): Simulation['sights'][] {
  const key = ({ team, conversation }: Wish): string => `${team} ${conversation}`;
  const spoken = simulation.sights.filter(({ wish }) => wish.conversation !== undefined);
  return [...Map.groupBy(spoken, ({ wish }) => key(wish)).values()];
}

/** One after the other, and everybody in the order of arrival. */
function expectSerial(said: Simulation['sights'], wishes: Scenario['wishes']): void {
  let open = 0;
  let furthest = -1;
  const arrival = [...wishes].sort((a, b) => a.at - b.at);
  for (const sight of said) {
    if (sight.kind === 'ended') open -= 1;
    if (sight.kind !== 'granted') continue;
    open += 1;
    expect(open).toBe(1);
    const place = arrival.indexOf(sight.wish);
    expect(place).toBeGreaterThanOrEqual(furthest);
    furthest = place;
  }
}
