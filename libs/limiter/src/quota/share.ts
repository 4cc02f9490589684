import type { Milliseconds } from '@weir/kernel';

/** So much per so long. */
export interface Share {
  readonly amount: number;
  readonly perMs: Milliseconds;
}

/**
 * A whole amount in about a part of the window, at the rate of the limit: with 50 a minute a "second" is 1.2 s for
 * one, because none per second would stop everything and one per second would be too much.
 */
function evenShare(limit: number, windowMs: Milliseconds, parts: number): Share {
  const amount = Math.max(1, Math.floor(limit / parts));
  return { amount, perMs: limit === Infinity ? windowMs / parts : (windowMs * amount) / limit };
}

/** So much of a part may be lost to rounding down before the even share is tried first. */
const LITTLE = 0.1;

/**
 * What a provider may hold each part of the window to, the likelier first: rounded down (reference 1.3: n = floor(N q / W)),
 * or at the rate of the limit, which a provider that does not round down would let pass.
 */
export function sharesOf(limit: number, windowMs: Milliseconds, parts: number): readonly [Share, ...Share[]] {
  const even = evenShare(limit, windowMs, parts);
  const whole = { amount: Math.floor(limit / parts), perMs: windowMs / parts };
  if (limit === Infinity || whole.amount < 1 || whole.amount === limit / parts) return [even];
  return whole.amount >= (1 - LITTLE) * (limit / parts) ? [whole] : [even, whole];
}

/** What a provider that counts in quanta takes per quantum: rounded down, at least one. */
export function quantumShare(limit: number, windowMs: Milliseconds, quantumMs: Milliseconds): Share {
  return { amount: Math.max(1, Math.floor((limit * quantumMs) / windowMs)), perMs: quantumMs };
}
