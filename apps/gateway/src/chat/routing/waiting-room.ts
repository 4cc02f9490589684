import type { Target } from '@weir/kernel';
import type { RoutedWait } from './routed-wait.js';
import { keyOf } from './targets.js';

/** Waits of one team for one route in the queue of one target, oldest first: they have the same choices. */
export interface Line {
  readonly target: Target;
  readonly waits: Set<RoutedWait>;
}

/** Who waits for which target. */
export class WaitingRoom {
  private readonly lines = new Map<string, Line>();
  private readonly counts = new Map<string, number>();
  /** Waits that have a choice. */
  movable = 0;

  add(wait: RoutedWait): void {
    const key = lineOf(wait);
    let line = this.lines.get(key);
    if (line === undefined) {
      line = { target: wait.target, waits: new Set() };
      this.lines.set(key, line);
    }
    line.waits.add(wait);
    this.count(wait, 1);
  }

  remove(wait: RoutedWait): void {
    const key = lineOf(wait);
    const line = this.lines.get(key);
    if (!line?.waits.delete(wait)) return;
    if (line.waits.size === 0) this.lines.delete(key);
    this.count(wait, -1);
  }

  /** How many wait for a target. */
  at(target: Target): number {
    return this.counts.get(keyOf(target)) ?? 0;
  }

  /** Every line, or those at one account. Lines may come and go meanwhile. */
  all(account?: string): readonly Line[] {
    const lines = [...this.lines.values()];
    return account === undefined ? lines : lines.filter(({ target }) => target.account === account);
  }

  private count(wait: RoutedWait, by: 1 | -1): void {
    const key = keyOf(wait.target);
    const count = (this.counts.get(key) ?? 0) + by;
    if (count === 0) this.counts.delete(key);
    else this.counts.set(key, count);
    if (wait.course.branches) this.movable += by;
  }
}

function lineOf({ target, course }: RoutedWait): string {
  const { team, model } = course.call.identity;
  return JSON.stringify([target.account, target.model, team, model]);
}
