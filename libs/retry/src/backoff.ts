import type { Milliseconds, Random } from '@weir/kernel';

/** How long to wait before a retry that no provider hint governs. */
export interface BackoffPolicy {
  /** Upper bound of the first wait; doubles with each failure. Default 500 ms. */
  readonly baseMs: Milliseconds;
  /** Upper bound of every wait. Default 30 s. */
  readonly capMs: Milliseconds;
}

/** The defaults of BackoffPolicy. */
export const DEFAULT_BACKOFF: BackoffPolicy = { baseMs: 500, capMs: 30_000 };

/**
 * Exponential backoff with full jitter: uniform in [0, min(cap, base x 2^(failures - 1))).
 * Full jitter spreads callers that failed together better than any fixed share of it
 * (AWS Architecture Blog, "Exponential Backoff and Jitter", 2015).
 * @param failures attempts that failed so far, 1 or more
 */
export function fullJitter(failures: number, policy: BackoffPolicy, random: Random): Milliseconds {
  const ceiling = Math.min(policy.capMs, policy.baseMs * 2 ** (failures - 1));
  return random.next() * ceiling;
}
