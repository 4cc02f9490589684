import type { FailureClass, Milliseconds } from '@weir/kernel';
import type { FakeClock } from '@weir/testing';
import * as fc from 'fast-check';
import type { Limiter } from '../limiter.js';
import type { DimensionSpec } from '../quota/dimension.js';
import type { Recorder } from './recorded-dimension.js';
import type { Outcome, Wish } from './simulation.js';

/** Virtual windows are short: what counts is how many requests fall into one. */
export const WINDOW_MS: Milliseconds = 8_000;

/** Limits and requests, as a property draws them. */
export interface Scenario {
  readonly dimensions: readonly DimensionSpec[];
  readonly teams: readonly { readonly id: string; readonly weight: number }[];
  readonly wishes: readonly Wish[];
}

/** What a limiter under test is built from. Its ledger starts empty. */
export interface Bench extends Pick<Scenario, 'dimensions' | 'teams'> {
  readonly clock: FakeClock;
  readonly recorder: Recorder;
}

/** Builds the limiter under test. */
export type MakeLimiter = (bench: Bench) => Limiter;

/** A dimension of account `main`. */
export function dimension(
  of: { readonly model?: string; readonly team?: string },
  unit: DimensionSpec['unit'],
  limit: number,
  more: Partial<DimensionSpec> = {},
): DimensionSpec {
  const { model, team } = of;
  const scope =
    team !== undefined
      ? ({ id: `team:${team}:${unit}`, scope: 'team', team } as const)
      : model !== undefined
        ? ({ id: `model:main/${model}:${unit}`, scope: 'model', account: 'main', model } as const)
        : ({ id: `account:main:${unit}`, scope: 'account', account: 'main' } as const);
  return {
    ...scope,
    unit,
    limit,
    windowMs: WINDOW_MS,
    shape: { kind: 'sliding' },
    delaySpreadMs: 0,
    ...more,
  };
}

export const TEAMS = [
  { id: 'a', weight: 1 },
  { id: 'b', weight: 2 },
  { id: 'c', weight: 1 },
];

const requests = fc.integer({ min: 1, max: 12 });
const tokens = fc.integer({ min: 200, max: 2_000 });

/** A vector of up to six dimensions, each there or not. */
export const someDimensions: fc.Arbitrary<DimensionSpec[]> = fc
  .record({
    accountRequests: fc.option(requests),
    accountTokens: fc.option(tokens),
    modelRequests: fc.option(requests),
    modelTokens: fc.option(tokens),
    teamTokens: fc.option(tokens),
    slots: fc.option(fc.integer({ min: 1, max: 4 })),
    burst: fc.integer({ min: 1, max: 4 }),
  })
  .map(({ burst, ...limit }) => {
    const list: DimensionSpec[] = [];
    if (limit.accountRequests !== null)
      list.push(dimension({}, 'requests', limit.accountRequests, { burst }));
    if (limit.accountTokens !== null) list.push(dimension({}, 'tokens', limit.accountTokens));
    if (limit.modelRequests !== null)
      list.push(dimension({ model: 'm' }, 'requests', limit.modelRequests, { burst }));
    if (limit.modelTokens !== null) list.push(dimension({ model: 'm' }, 'tokens', limit.modelTokens));
    if (limit.teamTokens !== null) list.push(dimension({ team: 'a' }, 'tokens', limit.teamTokens));
    if (limit.slots !== null) list.push(dimension({}, 'slots', limit.slots));
    return list;
  });

const afterMs = fc.integer({ min: 1, max: 3_000 });
const failure = fc.constantFrom<FailureClass>(
  'rate_limit_requests',
  'rate_limit_tokens',
  'concurrency',
  'overloaded',
  'transient',
  'auth',
);

const settle: fc.Arbitrary<Outcome> = fc
  .record({
    afterMs,
    input: fc.option(fc.integer({ min: 0, max: 300 })),
    output: fc.option(fc.integer({ min: 0, max: 300 })),
  })
  .map(({ input, output, ...rest }) => ({
    kind: 'settle',
    ...rest,
    ...(input === null ? {} : { input }),
    ...(output === null ? {} : { output }),
  }));

const fail: fc.Arbitrary<Outcome> = fc
  .record({ afterMs, failure, hintMs: fc.option(fc.integer({ min: 1, max: 4_000 })) })
  .map(({ hintMs, ...rest }) => ({ kind: 'fail', ...rest, ...(hintMs === null ? {} : { hintMs }) }));

const cancel: fc.Arbitrary<Outcome> = fc.record({ kind: fc.constant('cancel'), afterMs });

/** What may happen to an attempt. */
export const outcome = fc.oneof(
  { weight: 5, arbitrary: settle },
  { weight: 3, arbitrary: fail },
  { weight: 1, arbitrary: cancel },
);

/** One request with everything that may happen to it. */
export const wish: fc.Arbitrary<Wish> = fc
  .record({
    at: fc.integer({ min: 0, max: 12_000 }),
    team: fc.constantFrom('a', 'b', 'c'),
    model: fc.constantFrom('m', 'n'),
    priority: fc.constantFrom('high', 'normal', 'low'),
    conversation: fc.option(fc.constantFrom('x', 'y')),
    input: fc.integer({ min: 0, max: 300 }),
    output: fc.integer({ min: 0, max: 300 }),
    patienceMs: fc.integer({ min: 1, max: 40_000 }),
    leavesAfterMs: fc.option(fc.integer({ min: 0, max: 8_000 }), { freq: 4 }),
    outcomes: fc.array(outcome, { minLength: 1, maxLength: 3 }),
  })
  .map(({ conversation, leavesAfterMs, ...rest }) => ({
    ...rest,
    ...(conversation === null ? {} : { conversation }),
    ...(leavesAfterMs === null ? {} : { leavesAfterMs }),
  }));

/** Anything. */
export const anyScenario: fc.Arbitrary<Scenario> = fc.record({
  dimensions: someDimensions,
  teams: fc.constant(TEAMS),
  wishes: fc.array(wish, { minLength: 1, maxLength: 25 }),
});
