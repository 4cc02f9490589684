import type { Clock, Milliseconds } from '@weir/kernel';
import type { Logger } from './logger.js';

/** A fault of that kind comes with every request, and one line of it is enough. */
const REPEAT_MS: Milliseconds = 600_000;

/** @returns what to call with what was thrown while spans were told of: it is logged, at most once in ten minutes */
export function faultLog(clock: Clock, logger: Logger | undefined): (thrown: unknown) => void {
  let quietUntil: Milliseconds = -Infinity;
  return (thrown) => {
    if (clock.now() < quietUntil) return;
    quietUntil = clock.now() + REPEAT_MS;
    logger?.error('telemetry is incomplete', thrown);
  };
}
