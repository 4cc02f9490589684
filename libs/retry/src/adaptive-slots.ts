import type { Milliseconds } from '@weir/kernel';

const CUT = 0.7;
/** Overloads of one second are one event: their attempts were under way together. */
const CUT_EVERY_MS: Milliseconds = 1_000;

/**
 * How many calls an account takes at a time while its provider is overloaded: cut by a third, at most once a second,
 * and one more for every window without overload (AIMD). Never below 1, never above what was configured.
 */
export class AdaptiveSlots {
  private missing = 0;
  private cutAt: Milliseconds = -Infinity;
  private steppedAt: Milliseconds = 0;

  /**
   * @param configured the ceiling, asked anew each time: a reload may move it
   * @param windowMs time without overload that earns one slot
   */
  constructor(
    private readonly configured: () => number,
    private readonly windowMs: Milliseconds,
  ) {}

  get limit(): number {
    return Math.max(1, this.configured() - this.missing);
  }

  /** The provider said that it is overloaded, or was too slow. */
  overloaded(now: Milliseconds): void {
    this.grow(now);
    this.steppedAt = now;
    if (now - this.cutAt < CUT_EVERY_MS) return;
    this.cutAt = now;
    this.missing = this.configured() - Math.max(1, Math.floor(this.limit * CUT));
  }

  /** Time has passed: gives back what it earned. */
  grow(now: Milliseconds): void {
    if (this.missing === 0) return;
    const windows = Math.floor((now - this.steppedAt) / this.windowMs);
    this.steppedAt += windows * this.windowMs;
    this.missing = Math.max(0, this.missing - windows);
  }
}
