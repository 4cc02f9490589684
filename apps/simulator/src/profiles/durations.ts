import type { EpochMilliseconds, Milliseconds } from '@weir/kernel';

/** As Go prints durations: `0s`, `12ms`, `7.66s`, `6m0s`, `9m38.016s`, `1h0m0s`. Rounded up to whole milliseconds. */
export function goDuration(duration: Milliseconds): string {
  const total = Math.ceil(duration);
  if (total === 0) return '0s';
  if (total < 1000) return `${total}ms`;
  const hours = Math.floor(total / 3_600_000);
  const minutes = Math.floor(total / 60_000) % 60;
  const seconds = `${(total % 60_000) / 1000}s`;
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}

/** Whole seconds, rounded up. */
export function wholeSeconds(duration: Milliseconds): string {
  return String(Math.ceil(duration / 1000));
}

/** RFC 3339 in UTC with whole seconds, rounded up. */
export function rfc3339(time: EpochMilliseconds): string {
  return new Date(Math.ceil(time / 1000) * 1000).toISOString().replace('.000Z', 'Z');
}
