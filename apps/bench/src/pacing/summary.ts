import { mean } from '../statistics.js';
import { keyOf, type Cell } from './cells.js';
import type { RunResult } from './run.js';

/** What the seeds of one cell amount to: means, and the worst share of 429s of a single one. */
export interface Summary {
  readonly seeds: number;
  readonly throttledShare: number;
  readonly worstThrottledShare: number;
  readonly utilisation: number;
  readonly waitP50: number;
  readonly waitP99: number;
  readonly lightP99: number;
  readonly jain: number;
  readonly servedShare: number;
}

/** Results by cell. */
export class Summaries {
  private readonly results = new Map<string, RunResult[]>();

  add(cell: Cell, result: RunResult): void {
    const key = keyOf(cell);
    const known = this.results.get(key);
    if (known) known.push(result);
    else this.results.set(key, [result]);
  }

  /** @throws where the cell was not run */
  of(cell: Cell): Summary {
    const results = this.results.get(keyOf(cell));
    if (!results) throw new Error(`Nobody ran ${keyOf(cell)}.`);
    const average = (field: keyof RunResult): number =>
      mean(results.map((result) => result[field]).filter((value) => !Number.isNaN(value)));
    return {
      seeds: results.length,
      throttledShare: average('throttledShare'),
      worstThrottledShare: Math.max(...results.map(({ throttledShare }) => throttledShare)),
      utilisation: average('utilisation'),
      waitP50: average('waitP50'),
      waitP99: average('waitP99'),
      lightP99: average('lightP99'),
      jain: average('jain'),
      servedShare: average('servedShare'),
    };
  }
}
