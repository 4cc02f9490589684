import type { HrTime } from '@opentelemetry/api';
import type { EpochMilliseconds, Milliseconds } from '@weir/kernel';

/** Milliseconds as OpenTelemetry's pair of seconds and nanoseconds. */
export function toHrTime(ms: Milliseconds | EpochMilliseconds): HrTime {
  const seconds = Math.floor(ms / 1000);
  const nanos = Math.round((ms - seconds * 1000) * 1e6);
  return nanos === 1e9 ? [seconds + 1, 0] : [seconds, nanos];
}
