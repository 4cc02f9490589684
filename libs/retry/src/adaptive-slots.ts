import type { Milliseconds } from '@weir/kernel';
import { CellRing } from './cell-ring.js';

const CUT = 0.7;
/** Overloads of one second are one event: their attempts were under way together. */
const CUT_EVERY_MS: Milliseconds = 1_000;
/**
 * Below this share of overloads a provider is not full but unlucky, and fewer calls at a time would not help: plain AIMD
 * holds a provider that fails one call in a hundred at 18 slots, whatever it could take.
 */
const LEAST_SHARE = 0.1;
const CELLS = 10;

/** What happened in a part of the window. */
interface Counts {
  answered: number;
  overloaded: number;
}

/**
 * How many calls an account takes at a time while its provider is overloaded: cut by a third, at most once a second,
 * while a tenth of the calls of a window is refused that way; one more for every round of answers (as many as there
 * are slots) and for every window without overload (AIMD). Never below 1, never above what was configured.
 */
export class AdaptiveSlots {
  private missing = 0;
  /** Answers of the round that is under way. */
  private round = 0;
  private cutAt: Milliseconds = -Infinity;
  private steppedAt: Milliseconds = 0;
  private readonly counts: CellRing<Counts>;

  /**
   * @param configured the ceiling, asked anew each time: a reload may move it
   * @param windowMs time without overload that earns one slot, and over which shares are taken
   */
  constructor(
    private readonly configured: () => number,
    private readonly windowMs: Milliseconds,
  ) {
    this.counts = new CellRing(windowMs / CELLS, CELLS, () => ({ answered: 0, overloaded: 0 }));
  }

  get limit(): number {
    return Math.max(1, this.configured() - this.missing);
  }

  /** The provider answered. */
  answered(now: Milliseconds): void {
    this.counts.at(now).answered += 1;
    this.round += 1;
    if (this.round >= this.limit) {
      this.round = 0;
      this.giveBack(1);
    }
    this.grow(now);
  }

  /** The provider said that it is overloaded, or was too slow. */
  overloaded(now: Milliseconds): void {
    this.grow(now);
    this.steppedAt = now;
    this.counts.at(now).overloaded += 1;
    if (now - this.cutAt < CUT_EVERY_MS || this.share(now) < LEAST_SHARE) return;
    this.cutAt = now;
    this.round = 0;
    this.missing = this.configured() - Math.max(1, Math.floor(this.limit * CUT));
  }

  /** Time has passed: gives back what it earned. */
  grow(now: Milliseconds): void {
    if (this.missing === 0) return;
    const windows = Math.floor((now - this.steppedAt) / this.windowMs);
    this.steppedAt += windows * this.windowMs;
    this.giveBack(windows);
  }

  private giveBack(slots: number): void {
    this.missing = Math.max(0, this.missing - slots);
  }

  /** Overloads among what the last window brought. */
  private share(now: Milliseconds): number {
    let answered = 0;
    let overloaded = 0;
    for (const counts of this.counts.last(CELLS, now)) {
      answered += counts.answered;
      overloaded += counts.overloaded;
    }
    return overloaded / (answered + overloaded);
  }
}
