import type { Milliseconds } from '@weir/kernel';
import type { DimensionSpec } from './dimension.js';

/** Refusals closer than this were in flight together and are one event (reference 1.7). */
export const ONE_EVENT_MS: Milliseconds = 1_500;
/** A sixth of the window: 10 s of a minute, as reference 1.3 has it. */
export const MIDDLE_PARTS = 6;
/** A sixtieth: 1 s of a minute. */
export const CELL_PARTS = 60;

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

/** What a person allows to leave at once, which is not exceeded; Infinity where nobody did. */
export function mostBurstOf({ burst }: DimensionSpec): number {
  return burst === undefined ? Infinity : Math.max(1, burst);
}

/** Most that may leave at once under `limit`: a tenth for requests, a quarter for tokens, at least one. */
export function burstOf(spec: DimensionSpec, limit: number): number {
  if (spec.burst !== undefined) return Math.max(1, Math.min(spec.burst, limit));
  return Math.max(1, countsRequests(spec) ? limit / 10 : limit / 4);
}
