import type { Dimension } from '../quota/dimension.js';

/**
 * Where more room would help somebody who waits, as far as the last looks saw. Who is blocked waits for the dimension
 * that is the last to have room; room elsewhere changes nothing for anybody, and needs no look.
 */
export class Awaited {
  private readonly dimensions = new Set<Dimension>();
  private anything = false;

  /** Somebody waits for this one. */
  add(dimension: Dimension): void {
    this.dimensions.add(dimension);
  }

  /** Somebody waits whose reason is not one dimension, or was not looked for. */
  addAll(): void {
    this.anything = true;
  }

  has(dimension: Dimension): boolean {
    return this.anything || this.dimensions.has(dimension);
  }

  /** A look begins, and finds out anew. */
  clear(): void {
    this.dimensions.clear();
    this.anything = false;
  }
}
