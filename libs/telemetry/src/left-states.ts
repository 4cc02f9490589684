import type { Clock, Milliseconds } from '@weir/kernel';
import type { Reading } from './metric-families.js';

/**
 * How long a state that is over is shown as 0. Longer than a collector remembers what it heard last (`metric_expiration`:
 * 90 s in ours, 5 min by default): one that missed the change hears of it, or has forgotten the state by itself.
 */
const SHOWN_MS: Milliseconds = 6 * 60_000;

/**
 * Readings that are 1 while something is so, with the ones that are over as 0. Left out instead, they would stand at 1 in
 * Prometheus until the collector forgets them: an account that is called again would go on looking parked.
 */
export class LeftStates {
  private readonly seen = new Map<string, { readonly labels: readonly string[]; at: Milliseconds }>();

  constructor(private readonly clock: Clock) {}

  /** @param states label values of everything that is so now */
  *with(states: Iterable<readonly string[]>): Generator<Reading<number>> {
    const now = this.clock.now();
    const current = new Set<string>();
    for (const labels of states) {
      const key = labels.join('\n');
      current.add(key);
      this.seen.set(key, { labels, at: now });
      yield { labels, value: 1 };
    }
    for (const [key, { labels, at }] of this.seen) {
      if (current.has(key)) continue;
      if (now - at > SHOWN_MS) this.seen.delete(key);
      else yield { labels, value: 0 };
    }
  }
}
