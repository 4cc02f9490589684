import type { Clock, Milliseconds } from '@weir/kernel';
import { CellRing } from './cell-ring.js';

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

/**
 * A count per request cannot stop a storm: with 4 attempts each, a provider that fails gets four times the load.
 * A budget bounds it in the sum: in any window, retries <= ratio x first attempts + floor.
 */
export class RetryBudget {
  private readonly ring: CellRing<{ firsts: number; retries: number }>;

  constructor(
    private readonly clock: Clock,
    private readonly policy: RetryBudgetPolicy = DEFAULT_BUDGET,
  ) {
    this.ring = new CellRing(policy.windowMs / CELLS, CELLS + 1, () => ({ firsts: 0, retries: 0 }));
  }

  /** Counts a first attempt. */
  recordFirst(): void {
    this.ring.at(this.clock.now()).firsts += 1;
  }

  /** Spends one retry, or refuses and changes nothing. */
  trySpend(): boolean {
    const now = this.clock.now();
    let firsts = 0;
    let retries = 0;
    // The oldest cell is only partly inside the window: its retries count, its first attempts earn nothing any more.
    for (const cell of this.ring.last(CELLS + 1, now)) retries += cell.retries;
    for (const cell of this.ring.last(CELLS, now)) firsts += cell.firsts;
    if (retries + 1 > this.policy.ratio * firsts + this.policy.floor) return false;
    this.ring.at(now).retries += 1;
    return true;
  }
}
