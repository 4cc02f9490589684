import { median, quantile } from '../statistics.js';
import type { LimiterCell } from './cell.js';
import type { ContenderName } from './contenders.js';
import type { MeasureName } from './measures.js';

/** Everything that was measured, by cell and number. */
export class Measurements {
  private readonly values = new Map<string, number[]>();

  add(cell: LimiterCell, measured: Readonly<Record<string, number>>): void {
    for (const [what, value] of Object.entries(measured)) {
      const key = keyOf(cell, what);
      this.values.set(key, [...(this.values.get(key) ?? []), value]);
    }
  }

  /** The quietest round's: what a busy machine adds is never negative. NaN where it was not measured. */
  least(contender: ContenderName, measure: MeasureName, waiters: number, what: string): number {
    return quantile(this.values.get(keyOf({ contender, measure, waiters }, what)) ?? [], 0);
  }

  /** NaN where it was not measured. */
  of(contender: ContenderName, measure: MeasureName, waiters: number, what: string): number {
    return median(this.values.get(keyOf({ contender, measure, waiters }, what)) ?? []);
  }
}

function keyOf({ contender, measure, waiters }: LimiterCell, what: string): string {
  return [contender, measure, waiters, what].join(' · ');
}
