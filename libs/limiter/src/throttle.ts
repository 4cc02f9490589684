import type { GatewayError, Milliseconds, Random } from '@weir/kernel';
import { Blame, ownRequests } from './blame.js';
import type { Vector } from './ledger/ledger.js';
import { pauseFor } from './pause-rule.js';
import type { Dimension } from './quota/dimension.js';
import { isThrottle } from './refund-rule.js';

interface Streak {
  readonly refusals: number;
  readonly since: Milliseconds;
}

/** An attempt that was refused. */
export interface Refused {
  readonly vector: Vector;
  readonly grantedAt: Milliseconds;
}

/** Turns a provider's no into a pause of the dimension that it is about, for everybody, and tells its learner. */
export class Throttle {
  private readonly streaks = new Map<Dimension, Streak>();
  private readonly blame = new Blame();

  constructor(private readonly random: Random) {}

  /** @returns the dimension that was paused, if any */
  refused(attempt: Refused, error: GatewayError, now: Milliseconds): Dimension | undefined {
    if (error.failure === 'overloaded' && error.hintMs !== undefined) {
      const target = ownRequests(attempt.vector);
      target?.pause(now + pauseFor(error.hintMs, 0, this.random));
      return target;
    }
    if (!isThrottle(error.failure)) return undefined;
    const dimension = this.blame.of(attempt.vector, error.failure, now);
    if (dimension === undefined) return undefined;
    dimension.pause(now + pauseFor(error.hintMs, this.inARow(dimension, attempt, now), this.random));
    dimension.throttled(now, error.hintMs);
    return dimension;
  }

  /** An answer came: what was granted since the last refusal ends the streak. */
  answered(vector: Vector, grantedAt: Milliseconds): void {
    if (this.streaks.size === 0) return;
    for (const dimension of vector) {
      const streak = this.streaks.get(dimension);
      if (streak && grantedAt > streak.since) this.streaks.delete(dimension);
    }
  }

  /** Refusals of what was in flight together are one. */
  private inARow(dimension: Dimension, { grantedAt }: Refused, now: Milliseconds): number {
    const streak = this.streaks.get(dimension);
    if (streak && grantedAt <= streak.since) return streak.refusals - 1;
    const refusals = (streak?.refusals ?? 0) + 1;
    this.streaks.set(dimension, { refusals, since: now });
    return refusals - 1;
  }
}
