import type { Milliseconds, Random } from '@weir/kernel';

/** Without a hint: full jitter over 1 s, doubled with every refusal in a row, at most a minute. */
const BASE_MS: Milliseconds = 1_000;
const CAP_MS: Milliseconds = 60_000;
/** Upward jitter on a hint: a tenth of it, at least a quarter of a second. */
const JITTER_SHARE = 0.1;
const JITTER_FLOOR_MS: Milliseconds = 250;

/**
 * How long a dimension stays closed after a 429, from receipt. A hint is a floor: jitter goes upward only, so that
 * several gateways do not come back in the same instant.
 * @param inARow refusals before this one without a success between; only used without a hint
 */
export function pauseFor(hintMs: Milliseconds | undefined, inARow: number, random: Random): Milliseconds {
  if (hintMs === undefined) return random.next() * Math.min(CAP_MS, BASE_MS * 2 ** inARow);
  return hintMs + random.next() * Math.max(hintMs * JITTER_SHARE, JITTER_FLOOR_MS);
}
