import type { Tokens } from '@weir/kernel';
import type { OutputLength } from './reservation.js';

/** How many outputs are remembered. */
const MEMORY = 200;
/** Fewer say nothing. */
const ENOUGH = 20;
/** A computed length serves so many more outputs: sorting on every request would cost more than it tells. */
const GOOD_FOR = 8;
/** Beyond the largest output that was cut, this much more is supposed. */
const BEYOND_CUT = 1.5;

/**
 * The last outputs of one kind of request. One that was cut at its bound is a *censored* sample: it was at least that
 * long. Taken as it is, the estimate would ratchet down, so lengths come from the survival curve (Kaplan and Meier
 * 1958), in which a cut output only leaves those at risk.
 */
export class OutputSamples {
  private readonly lengths = new Float64Array(MEMORY);
  private readonly cut = new Uint8Array(MEMORY);
  private count = 0;
  private age = 0;
  private known: OutputLength | undefined;

  add(tokens: Tokens, wasCut: boolean): void {
    const index = this.count % MEMORY;
    this.lengths[index] = tokens;
    this.cut[index] = wasCut ? 1 : 0;
    this.count += 1;
    this.age += 1;
  }

  /** Undefined while there are too few. */
  get length(): OutputLength | undefined {
    if (this.count < ENOUGH) return undefined;
    if (this.known === undefined || this.age >= GOOD_FOR) {
      this.known = this.measured();
      this.age = 0;
    }
    return this.known;
  }

  private measured(): OutputLength {
    const size = Math.min(this.count, MEMORY);
    const order = Array.from({ length: size }, (_, index) => index).sort(
      (a, b) => this.at(a) - this.at(b) || this.cutAt(a) - this.cutAt(b),
    );
    let surviving = 1;
    let mean = 0;
    let previous = 0;
    let q90: number | undefined;
    for (const [rank, index] of order.entries()) {
      mean += surviving * (this.at(index) - previous);
      previous = this.at(index);
      if (this.cutAt(index)) continue;
      surviving *= 1 - 1 / (size - rank);
      if (surviving <= 0.1 + 1e-9) q90 ??= previous;
    }
    mean += surviving * previous * (BEYOND_CUT - 1);
    return { mean: Math.ceil(mean), q90: Math.ceil(q90 ?? previous * BEYOND_CUT) };
  }

  private at(index: number): number {
    return this.lengths[index] ?? 0;
  }

  private cutAt(index: number): number {
    return this.cut[index] ?? 0;
  }
}
