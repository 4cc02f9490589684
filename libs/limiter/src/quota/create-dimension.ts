import type { Milliseconds } from '@weir/kernel';
import { BucketRegime } from './bucket-regime.js';
import { Concurrency } from './concurrency.js';
import { isLong } from './defaults.js';
import type { DimensionSpec } from './dimension.js';
import type { RestorableDimension } from './dimension-state.js';
import { MAX_SPREAD_MS } from './learner.js';
import { RateDimension } from './rate-dimension.js';
import type { Regime } from './regime.js';
import { SlotLog } from './slot-log.js';
import { WindowRegime } from './window-regime.js';

/** How a dimension starts. */
export interface DimensionOptions {
  /**
   * Suppose that the last window was spent evenly, because what an earlier process sent is not known. Default: true
   * for a provider's windows under an hour. A day that is supposed spent would stop a fresh start for hours; a team's
   * limit is ours, so nobody else remembers what was spent of it.
   */
  readonly presumeSpent?: boolean;
}

/** Builds the arithmetic that a dimension's unit and shape ask for. */
export function createDimension(
  spec: DimensionSpec,
  now: Milliseconds,
  options: DimensionOptions = {},
): RestorableDimension {
  if (spec.unit === 'slots') return new Concurrency(spec);
  const log = new SlotLog(spec.windowMs, longestSpan(spec), now);
  const regime = regimeOf(spec, log, now);
  if (options.presumeSpent ?? (spec.scope !== 'team' && !isLong(spec))) regime.presumeSpent(now);
  return new RateDimension(spec, log, regime, now);
}

function regimeOf(spec: DimensionSpec, log: SlotLog, now: Milliseconds): Regime {
  return spec.shape.kind === 'bucket'
    ? new BucketRegime(spec, spec.shape.capacity, log, now)
    : new WindowRegime(spec, log, now);
}

/** W, or a declared quantum that is longer, and the widest delay spread that may be learned. */
function longestSpan({ windowMs, shape, delaySpreadMs }: DimensionSpec): Milliseconds {
  const longest = shape.kind === 'quantum' ? Math.max(windowMs, shape.quantumMs) : windowMs;
  return longest + Math.max(MAX_SPREAD_MS, delaySpreadMs);
}
