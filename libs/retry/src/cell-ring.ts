import type { Milliseconds } from '@weir/kernel';

/**
 * What happened lately, in cells of equal length that are used again and again, so that memory does not grow with
 * what happens.
 */
export class CellRing<Cell> {
  private readonly cells: ({ readonly index: number; readonly cell: Cell } | undefined)[] = [];

  /**
   * @param cellMs length of a cell
   * @param size cells that are kept
   * @param make an empty cell
   */
  constructor(
    private readonly cellMs: Milliseconds,
    private readonly size: number,
    private readonly make: () => Cell,
  ) {}

  /** The cell that `now` falls into. */
  at(now: Milliseconds): Cell {
    const index = this.indexOf(now);
    const place = ((index % this.size) + this.size) % this.size;
    let kept = this.cells[place];
    if (kept?.index !== index) {
      kept = { index, cell: this.make() };
      this.cells[place] = kept;
    }
    return kept.cell;
  }

  /** The newest cells, that of `now` included, as far as anything happened in them. At most `size`. */
  *last(count: number, now: Milliseconds): Generator<Cell> {
    const index = this.indexOf(now);
    for (const kept of this.cells) {
      if (kept !== undefined && kept.index > index - count && kept.index <= index) yield kept.cell;
    }
  }

  private indexOf(now: Milliseconds): number {
    return Math.floor(now / this.cellMs);
  }
}
