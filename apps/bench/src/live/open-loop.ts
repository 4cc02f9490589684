import { setTimeout as sleep } from 'node:timers/promises';
import type { Milliseconds, Random } from '@weir/kernel';

/**
 * Calls `arrive` at Poisson instants, whatever became of the calls before: a caller that waits does not slow the others.
 * A late timer is caught up with at once.
 * @param ratePerSecond in the mean
 */
export async function openLoop(
  ratePerSecond: number,
  forMs: Milliseconds,
  random: Random,
  arrive: () => void,
): Promise<void> {
  const from = performance.now();
  const gap = (): Milliseconds => (-1000 * Math.log(1 - random.next())) / ratePerSecond;
  for (let at = gap(); at < forMs; at += gap()) {
    const aheadMs = from + at - performance.now();
    if (aheadMs > 0) await sleep(aheadMs);
    arrive();
  }
  await sleep(Math.max(0, from + forMs - performance.now()));
}
