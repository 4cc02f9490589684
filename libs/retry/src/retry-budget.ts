import type { Clock, Milliseconds } from '@weir/kernel';

/** How many retries an account may cause, beside what each request may. */
export interface RetryBudgetPolicy {
  /** Retries allowed per first attempt of the window. 0..1, default 0.1. */
  readonly ratio: number;
  /** Retries always allowed in a window, so that an idle account can still retry. Default 3. */
  readonly floor: number;
  /** Length of the window. Default 10 s. */
  readonly windowMs: Milliseconds;
}

/** The defaults of RetryBudgetPolicy. */
export const DEFAULT_BUDGET: RetryBudgetPolicy = { ratio: 0.1, floor: 3, windowMs: 10_000 };

const CELLS = 10;

interface Cell {
  index: number;
  firsts: number;
  retries: number;
}

/**
 * A count per request cannot stop a storm: with 4 attempts each, a provider that fails gets four times the load.
 * A budget bounds it in the sum: in any window, retries <= ratio x first attempts + floor.
 * The window is a ring of ten cells, so memory does not grow.
 */
export class RetryBudget {
  private readonly cells: Cell[] = Array.from({ length: CELLS + 1 }, () => ({
    index: -1,
    firsts: 0,
    retries: 0,
  }));

  constructor(
    private readonly clock: Clock,
    private readonly policy: RetryBudgetPolicy = DEFAULT_BUDGET,
  ) {}

  /** Counts a first attempt. */
  recordFirst(): void {
    this.cell().firsts += 1;
  }

  /** Spends one retry, or refuses and changes nothing. */
  trySpend(): boolean {
    const now = this.cell();
    let firsts = 0;
    let retries = 0;
    for (const cell of this.cells) {
      if (cell.index < now.index - CELLS) continue;
      retries += cell.retries;
      // The oldest cell is only partly inside the window: its first attempts earn nothing any more.
      if (cell.index > now.index - CELLS) firsts += cell.firsts;
    }
    if (retries + 1 > this.policy.ratio * firsts + this.policy.floor) return false;
    now.retries += 1;
    return true;
  }

  private cell(): Cell {
    const index = Math.floor(this.clock.now() / (this.policy.windowMs / CELLS));
    const place = ((index % this.cells.length) + this.cells.length) % this.cells.length;
    let cell = this.cells[place];
    if (cell?.index !== index) {
      cell = { index, firsts: 0, retries: 0 };
      this.cells[place] = cell;
    }
    return cell;
  }
}
