/** Where chance comes from: jitter, ids, seeded text. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
}

/** The process's own generator. Not for secrets. */
export const systemRandom: Random = { next: () => Math.random() };

/**
 * A generator that repeats itself for the same seed.
 * Mulberry32 (Tommy Ettinger, 2017, public domain): 32 bits of state, enough for tests and simulated text.
 * @param seed any integer; only its low 32 bits count
 */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return {
    next() {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    },
  };
}
