import * as fc from 'fast-check';
import { amountOf } from '../ledger/ledger.js';
import type { Permit } from '../limiter.js';
import type { DimensionSpec } from '../quota/dimension.js';
import { Recorder } from './recorded-dimension.js';
import { anyScenario, dimension, WINDOW_MS, type MakeLimiter, type Scenario } from './scenarios.js';
import { Simulation, type Wish } from './simulation.js';

/** Runs and seed of every property: the same in CI as here. */
export const CHECKED = { numRuns: 1_000, seed: 20_261_129 } as const;

/** A run with its journal. */
export interface Run {
  readonly simulation: Simulation;
  readonly recorder: Recorder;
}

export function start(make: MakeLimiter, { dimensions, teams, wishes }: Scenario): Run {
  const recorder = new Recorder();
  const simulation = new Simulation((clock) => make({ dimensions, teams, clock, recorder }));
  simulation.add(wishes);
  return { simulation, recorder };
}

/** What a granted wish takes of a dimension; undefined where the dimension is not on its way. */
export function amountFor(spec: DimensionSpec, wish: Wish): number | undefined {
  if (spec.model !== undefined && spec.model !== wish.model) return undefined;
  if (spec.team !== undefined && spec.team !== wish.team) return undefined;
  return amountOf(spec.unit, { inputTokens: wish.input, outputTokens: wish.output });
}

/** 3. Every debit belongs to a grant and every grant debits all: nothing else ever touches a ledger. */
export function atomicity(make: MakeLimiter): fc.IAsyncProperty<[Scenario]> {
  return fc.asyncProperty(anyScenario, async (scenario) => {
    const { simulation, recorder } = start(make, scenario);
    await simulation.run();
    for (const spec of scenario.dimensions) {
      const debits = recorder.changes.filter(({ dimension: id, kind }) => id === spec.id && kind === 'debit');
      const grants = simulation.granted.flatMap(({ wish, at }) => {
        const amount = amountFor(spec, wish);
        return amount === undefined ? [] : [{ amount, at }];
      });
      expect(debits.map(({ amount, at }) => ({ amount, at }))).toEqual(grants);
    }
  });
}

/** 5. A 429 gives no request back, and of tokens at most its own; cancelling gives back its own debit, in its window. */
export function refusalsGiveNothing(make: MakeLimiter): fc.IAsyncProperty<[Scenario]> {
  return fc.asyncProperty(anyScenario, async (scenario) => {
    const { simulation, recorder } = start(make, scenario);
    let before = new Map<string, number>();
    let changes = 0;
    const usedNow = (): Map<string, number> =>
      new Map(simulation.limiter.status().dimensions.map(({ id, used }) => [id, used]));
    simulation.beforeEnd = () => {
      before = usedNow();
      changes = recorder.changes.length;
    };
    simulation.afterEnd = (permit, outcome) => {
      const after = usedNow();
      const granted = recorder.changes.slice(changes).filter(({ kind }) => kind === 'debit');
      for (const spec of scenario.dimensions.filter(({ unit }) => unit !== 'slots')) {
        const grown = granted
          .filter(({ dimension: id }) => id === spec.id)
          .reduce((sum, { amount }) => sum + amount, 0);
        const givenBack = (before.get(spec.id) ?? 0) + grown - (after.get(spec.id) ?? 0);
        if (outcome.kind === 'fail' && outcome.failure.startsWith('rate_limit')) {
          expect(givenBack).toBeLessThanOrEqual((spec.unit === 'requests' ? 0 : own(permit)) + 1e-6);
        }
        if (outcome.kind === 'cancel') expectOwnDebit(givenBack, spec, permit, simulation.clock.now());
      }
    };
    await simulation.run();
  });
}

function expectOwnDebit(givenBack: number, spec: DimensionSpec, permit: Permit, now: number): void {
  const age = now - permit.grantedAt;
  const mine = spec.unit === 'requests' ? 1 : own(permit);
  const elsewhere = (spec.model !== undefined && spec.model !== permit.target.model) || spec.scope === 'team';
  if (elsewhere) expect([0, mine]).toContainEqual(Math.round(givenBack));
  else if (age < WINDOW_MS) expect(givenBack).toBeCloseTo(mine, 6);
  else if (age > WINDOW_MS * 1.1) expect(givenBack).toBeCloseTo(0, 6);
}

function own(permit: Permit): number {
  return permit.reserved.inputTokens + permit.reserved.outputTokens;
}

const backlogs = fc.record({
  weights: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 2, maxLength: 4 }),
  starts: fc.array(fc.integer({ min: 0, max: 10_000 }), { minLength: 4, maxLength: 4 }),
  /** One size: nobody can overtake a blocked head. Several: small ones fill the gap before a large one. */
  sizes: fc.oneof(
    fc.integer({ min: 0, max: 400 }).map((size) => [size]),
    fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 2, maxLength: 8 }),
  ),
  count: fc.integer({ min: 6, max: 24 }),
  requestLimit: fc.integer({ min: 2, max: 30 }),
  tokenLimit: fc.integer({ min: 400, max: 4_000 }),
});

/**
 * 9. Two backlogged teams never differ by more than one request of each, by weight, over any interval. Where requests
 * differ in size, property 6 lets small ones use the gaps before large heads; that adds what fits
 * into them, which stays under three limits: more than two are seen in one run of 4,500.
 */
export function fairness(make: MakeLimiter): fc.IAsyncProperty<[unknown]> {
  return fc.asyncProperty(backlogs, async ({ weights, starts, sizes, count, requestLimit, tokenLimit }) => {
    const teams = weights.map((weight, index) => ({ id: `t${index}`, weight }));
    const mixed = sizes.length > 1;
    const dimensions = [
      dimension({}, 'requests', mixed ? 1_000 : requestLimit),
      dimension({}, 'tokens', tokenLimit),
    ];
    const sizeOf = (n: number, team: number): number => sizes[(n * (team + 1)) % sizes.length] ?? 0;
    const wishes = teams.flatMap(({ id }, team) =>
      Array.from({ length: count }, (_, n) => backlogged(id, starts[team] ?? 0, sizeOf(n, team))),
    );
    const { simulation } = start(make, { dimensions, teams, wishes });
    await simulation.run();
    const costOf = ({ input }: Wish): number =>
      Math.max(1 / (mixed ? 1_000 : requestLimit), input / tokenLimit);
    const largest = Math.max(...wishes.map(costOf));
    for (const [one, ...others] of suffixes(teams)) {
      for (const other of others) {
        const gap = mixed ? 3 / Math.min(one.weight, other.weight) : 0;
        const bound = largest / one.weight + largest / other.weight + gap;
        expect(spread(simulation, one, other, costOf)).toBeLessThanOrEqual(bound + 1e-9);
      }
    }
  });
}

function backlogged(team: string, at: number, input: number): Wish {
  return {
    at,
    team,
    model: 'm',
    input,
    output: 0,
    patienceMs: 1e9,
    outcomes: [{ kind: 'settle', afterMs: 10 }],
  };
}

interface Weighted {
  readonly id: string;
  readonly weight: number;
}

/** The largest difference of service between two teams over any interval in which both have something waiting. */
function spread(
  simulation: Simulation,
  one: Weighted,
  other: Weighted,
  costOf: (wish: Wish) => number,
): number {
  const grants = simulation.granted.filter(({ wish }) => wish.team === one.id || wish.team === other.id);
  const from = Math.max(...[one, other].map(({ id }) => firstAt(simulation, id)));
  const lastOf = (id: string): number => grants.findLastIndex(({ wish }) => wish.team === id);
  const until = Math.min(lastOf(one.id), lastOf(other.id));
  let [difference, low, high] = [0, 0, 0];
  grants.forEach(({ wish, at }, index) => {
    if (at <= from || index > until) return;
    difference += wish.team === one.id ? costOf(wish) / one.weight : -costOf(wish) / other.weight;
    low = Math.min(low, difference);
    high = Math.max(high, difference);
  });
  return high - low;
}

function firstAt(simulation: Simulation, team: string): number {
  return (
    10_000 +
    Math.min(...simulation.granted.filter(({ wish }) => wish.team === team).map(({ wish }) => wish.at))
  );
}

function suffixes<T>(list: readonly T[]): [T, ...T[]][] {
  return list.flatMap((first, index) => [[first, ...list.slice(index + 1)] as [T, ...T[]]]);
}
