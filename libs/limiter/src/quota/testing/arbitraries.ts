import fc from 'fast-check';
import type { DimensionSpec, Shape } from '../dimension.js';
import { specOf, type WalkStep } from './walk.js';

/** Every property runs at least so often, and the same cases each time. */
export const RUNS = { numRuns: 1000, seed: 3 } as const;

const shapes = fc.constantFrom<Shape>(
  { kind: 'unknown' },
  { kind: 'sliding' },
  { kind: 'fixed' },
  { kind: 'quantum', quantumMs: 1_000 },
  { kind: 'quantum', quantumMs: 10_000 },
  { kind: 'bucket', capacity: 10 },
  { kind: 'bucket', capacity: 1 },
);

/** Dimensions of every rate, shape and window. */
export const specs: fc.Arbitrary<DimensionSpec> = fc
  .record({
    shape: shapes,
    limit: fc.integer({ min: 1, max: 200 }),
    windowMs: fc.constantFrom(500, 6_000, 20_000, 60_000, 86_400_000),
    delaySpreadMs: fc.constantFrom(0, 5, 50, 250),
    burst: fc.option(fc.integer({ min: 1, max: 300 }), { nil: undefined }),
    tokens: fc.boolean(),
  })
  .map(({ burst, tokens, shape, limit, ...rest }) =>
    specOf({
      ...rest,
      shape: scaled(shape, tokens ? 1000 : 1),
      limit: tokens ? limit * 1000 : limit,
      unit: tokens ? 'tokens' : 'requests',
      ...(burst === undefined ? {} : { burst: tokens ? burst * 1000 : burst }),
    }),
  );

/** Steps are written for a window of a minute and requests; `fitted` brings them to the dimension. */
const step: fc.Arbitrary<WalkStep> = fc.record({
  gapMs: fc.oneof(
    fc.constant(0),
    fc.double({ min: 0, max: 3_000, noNaN: true }),
    fc.integer({ min: 0, max: 90_000 }),
  ),
  amount: fc.oneof(
    { weight: 4, arbitrary: fc.constant(1) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 1000 }) },
  ),
  waits: fc.boolean(),
  refusedFor: fc.option(fc.integer({ min: 0, max: 20_000 }), { nil: undefined, freq: 12 }),
  refund: fc.oneof(
    { weight: 4, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.double({ min: 0, max: 1, noNaN: true }) },
  ),
});

/** Lives of some length. */
export const lives = fc.array(step, { minLength: 5, maxLength: 80 });

/** Short ones, for what is asked after every step. */
export const shortLives = fc.array(step, { minLength: 5, maxLength: 20 });

function scaled(shape: Shape, by: number): Shape {
  return shape.kind === 'bucket' ? { kind: 'bucket', capacity: shape.capacity * by } : shape;
}

/** A life as the dimension's window and unit have it. */
export function fitted(list: readonly WalkStep[], spec: DimensionSpec): WalkStep[] {
  const time = spec.windowMs / 60_000;
  const most = spec.unit === 'tokens' ? spec.limit : 1;
  return list.map((step) => ({
    ...step,
    gapMs: step.gapMs * time,
    amount: spec.unit === 'tokens' ? Math.max(1, Math.round((step.amount / 1000) * most)) : 1,
  }));
}
