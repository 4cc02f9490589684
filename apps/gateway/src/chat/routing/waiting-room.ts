import { Roster, type Target } from '@weir/kernel';
import type { Count, Place, RoutedWait } from './routed-wait.js';
import { keyOf } from './targets.js';

/** Waits of one team for one route in the queue of one target, oldest first: they have the same choices. */
export interface Line {
  readonly target: Target;
  readonly waits: Roster<RoutedWait>;
}

/** Who waits for which target. What is configured bounds lines and counts, so they stay where nobody waits. */
export class WaitingRoom {
  /** Waits that have a choice. */
  movable = 0;
  private readonly lines = new Map<string, Line>();
  private readonly counts = new Map<string, Count>();

  enter(wait: RoutedWait): Place {
    const { target, course } = wait;
    const place: Place = {
      stay: this.lineOf(wait).waits.enter(wait),
      count: this.countOf(target),
      movable: course.branches ? 1 : 0,
    };
    place.count.waiting += 1;
    this.movable += place.movable;
    return place;
  }

  /** Once. */
  leave({ stay, count, movable }: Place): void {
    stay.leave();
    count.waiting -= 1;
    this.movable -= movable;
  }

  /** How many wait for a target. */
  at(target: Target): number {
    return this.counts.get(keyOf(target))?.waiting ?? 0;
  }

  /** Every line in which somebody waits, or those at one account. Waits may come and go meanwhile. */
  all(account?: string): readonly Line[] {
    return [...this.lines.values()].filter(
      ({ target, waits }) => waits.size > 0 && (account === undefined || target.account === account),
    );
  }

  private lineOf({ target, course }: RoutedWait): Line {
    const { team, model } = course.call.identity;
    const key = JSON.stringify([target.account, target.model, team, model]);
    let line = this.lines.get(key);
    if (line === undefined) {
      line = { target, waits: new Roster() };
      this.lines.set(key, line);
    }
    return line;
  }

  private countOf(target: Target): Count {
    const key = keyOf(target);
    let count = this.counts.get(key);
    if (count === undefined) {
      count = { waiting: 0 };
      this.counts.set(key, count);
    }
    return count;
  }
}
