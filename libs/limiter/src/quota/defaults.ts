import type { DimensionSpec } from './dimension.js';

/** Windows as long as this are quotas of a day: nothing is paced, and a start does not suppose them spent. */
const LONG_WINDOW_MS = 3_600_000;

/** Whether the window is so long that only its sum matters. */
export function isLong(spec: DimensionSpec): boolean {
  return spec.windowMs >= LONG_WINDOW_MS;
}

/** Whether the dimension counts requests: small whole numbers, for which sub-windows make sense. */
export function countsRequests(spec: DimensionSpec): boolean {
  return spec.unit === 'requests' || spec.unit === 'requests_per_day';
}

/** Most that may leave at once under `limit`: a tenth for requests, a quarter for tokens, at least one. */
export function burstOf(spec: DimensionSpec, limit: number): number {
  if (spec.burst !== undefined) return Math.max(1, Math.min(spec.burst, limit));
  return Math.max(1, countsRequests(spec) ? limit / 10 : limit / 4);
}
