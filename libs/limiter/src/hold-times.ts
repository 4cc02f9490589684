import type { Milliseconds } from '@weir/kernel';
import type { Vector } from './ledger/ledger.js';
import type { Dimension } from './quota/dimension.js';

/** Weight of the newest sample: about the last ten count. */
const NEWEST = 0.1;

/** How long slots are held, so that a wait for one can be estimated. */
export class HoldTimes {
  private readonly means = new Map<Dimension, { ms: Milliseconds }>();

  /** A permit over these slots ended. */
  ended(slots: Vector, heldMs: Milliseconds): void {
    for (const dimension of slots) {
      const mean = this.means.get(dimension);
      if (mean === undefined) this.means.set(dimension, { ms: heldMs });
      else mean.ms += NEWEST * (heldMs - mean.ms);
    }
  }

  /** How long a permit over these dimensions lasts, as far as that was seen. */
  of(vector: Vector): Milliseconds {
    return vector.reduce((longest, dimension) => Math.max(longest, this.means.get(dimension)?.ms ?? 0), 0);
  }

  readonly mean = (dimension: Dimension): Milliseconds | undefined => this.means.get(dimension)?.ms;
}
