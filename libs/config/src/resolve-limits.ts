import type { Milliseconds } from '@weir/kernel';
import type { DimensionLimit, WindowShape } from './gateway-config.js';
import type { ConfigFile } from './schema.js';

type FileLimits = NonNullable<ConfigFile['accounts'][number]['limits']>;
type FileShape = NonNullable<FileLimits['shape']>;

const DAY_MS = 86_400_000;

const PER_MINUTE = [
  ['requestsPerMinute', 'requests'],
  ['tokensPerMinute', 'tokens'],
  ['inputTokensPerMinute', 'input_tokens'],
  ['outputTokensPerMinute', 'output_tokens'],
] as const;

/** Where limits stand. */
export interface LimitScope {
  readonly windowMs: Milliseconds;
  /** The account's own limits, for those of a model: they give the shape that the model does not. */
  readonly account?: FileLimits;
}

/** Limits as dimensions, in a fixed order. */
export function resolveLimits(
  limits: FileLimits,
  { windowMs, account }: LimitScope,
): readonly DimensionLimit[] {
  const shapeFor = shapeOf(limits, account);
  const dimensions: DimensionLimit[] = [];
  for (const [field, unit] of PER_MINUTE) {
    const limit = limits[field];
    if (limit === undefined) continue;
    const burst = unit === 'requests' && limits.burst !== undefined ? { burst: limits.burst } : {};
    dimensions.push({ unit, limit, windowMs, shape: shapeFor(limit), ...burst });
  }
  const sliding: WindowShape = { kind: 'sliding' };
  if (limits.requestsPerDay !== undefined) {
    dimensions.push({
      unit: 'requests_per_day',
      limit: limits.requestsPerDay,
      windowMs: DAY_MS,
      shape: sliding,
    });
  }
  if (limits.concurrency !== undefined) {
    dimensions.push({ unit: 'slots', limit: limits.concurrency, windowMs, shape: sliding });
  }
  return dimensions;
}

/** A bucket is written in requests; every limit that it rules gets a bucket of the same share of its own limit. */
function shapeOf(limits: FileLimits, account: FileLimits = {}): (limit: number) => WindowShape {
  const inherited = limits.shape === undefined;
  const shape: FileShape = limits.shape ?? account.shape ?? 'unknown';
  if (typeof shape === 'string') return () => ({ kind: shape });
  if ('quantum' in shape) return () => ({ kind: 'quantum', quantumMs: shape.quantum * 1000 });
  const requests = inherited
    ? account.requestsPerMinute
    : (limits.requestsPerMinute ?? account.requestsPerMinute);
  return (limit) => ({
    kind: 'bucket',
    capacity: Math.max(1, (shape.bucket * limit) / (requests ?? shape.bucket)),
  });
}
