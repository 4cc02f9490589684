import type { Milliseconds } from '@weir/kernel';
import type { Vector } from './ledger/ledger.js';
import type { QuotaLevel, QuotaView } from './limiter.js';
import type { Dimension } from './quota/dimension.js';

/** What is left of a vector, for a caller: the tightest dimension of each unit speaks for all. */
export function quotaView(vector: Vector, now: Milliseconds): QuotaView {
  return { requests: tightest(vector, 'requests', now), tokens: tightest(vector, 'tokens', now) };
}

function tightest(vector: Vector, unit: 'requests' | 'tokens', now: Milliseconds): QuotaLevel | undefined {
  let least: { readonly dimension: Dimension; readonly remaining: number } | undefined;
  for (const dimension of vector) {
    if (dimension.spec.unit !== unit || dimension.limit === Infinity) continue;
    // What the window still holds; the pacer's burst, which says less, is about this instant only.
    const remaining = Math.max(0, Math.floor(dimension.limit - dimension.used(now)));
    if (!least || remaining < least.remaining) least = { dimension, remaining };
  }
  if (!least) return undefined;
  const { dimension, remaining } = least;
  const used = dimension.limit - remaining;
  // A window forgets evenly where it was filled evenly; the exact time would need a look into every slot.
  const resetMs = Math.max(
    (dimension.spec.windowMs * used) / dimension.limit,
    dimension.pausedUntil - now,
    0,
  );
  return { limit: dimension.limit, remaining, resetMs };
}
