import { MemoryLedger } from './ledger/memory-ledger.js';
import { PacedLimiter, type PacedLimiterParts } from './paced-limiter.js';
import { createDimension, type DimensionOptions } from './quota/create-dimension.js';
import type { DimensionSpec } from './quota/dimension.js';

/** What a limiter of one process is built from. */
export interface LimiterOptions extends Omit<PacedLimiterParts, 'ledger'>, DimensionOptions {
  readonly dimensions: readonly DimensionSpec[];
}

/** A paced limiter with its ledger in memory. */
export function createLimiter({ dimensions, presumeSpent, ...parts }: LimiterOptions): PacedLimiter {
  const options = presumeSpent === undefined ? {} : { presumeSpent };
  const ledger = new MemoryLedger(
    dimensions,
    (spec, now) => createDimension(spec, now, options),
    () => parts.clock.now(),
  );
  return new PacedLimiter({ ...parts, ledger });
}
