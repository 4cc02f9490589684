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
export function evenShare(limit: number, windowMs: Milliseconds, parts: number): Share {
  const amount = Math.max(1, Math.floor(limit / parts));
  return { amount, perMs: limit === Infinity ? windowMs / parts : (windowMs * amount) / limit };
}

/** What a provider that counts in quanta takes per quantum: rounded down, at least one. */
export function quantumShare(limit: number, windowMs: Milliseconds, quantumMs: Milliseconds): Share {
  return { amount: Math.max(1, Math.floor((limit * quantumMs) / windowMs)), perMs: quantumMs };
}
