import type { Milliseconds } from '@weir/kernel';
import type { Dimension, DimensionSpec, Shape } from '../dimension.js';

/** One step of a random life of a dimension. */
export interface WalkStep {
  /** Time that passes first. */
  readonly gapMs: Milliseconds;
  readonly amount: number;
  /** Waits for `earliest` where the amount does not fit, or gives up. */
  readonly waits: boolean;
  /** The provider refuses after the step, with this hint. */
  readonly refusedFor: Milliseconds | undefined;
  /** Part of an earlier debit that was too much, given back after the step. */
  readonly refund: number;
}

/** What was sent. */
export interface Send {
  readonly at: Milliseconds;
  readonly slot: number;
  /** What it cost in the end. */
  amount: number;
}

/** A dimension of tests: requests of one account, 60 per 60 s, 250 ms of delay spread. */
export function specOf(part: Partial<DimensionSpec> & { readonly shape: Shape }): DimensionSpec {
  return {
    id: 'account:main:requests',
    scope: 'account',
    account: 'main',
    unit: 'requests',
    limit: 60,
    windowMs: 60_000,
    delaySpreadMs: 250,
    ...part,
  };
}

/** A life that was lived. */
export interface Walked {
  readonly sends: readonly Send[];
  readonly endedAt: Milliseconds;
}

/** Lives through the steps and returns what was sent. Refunds go to the oldest debit that had none. */
export function walk(dimension: Dimension, steps: readonly WalkStep[], from: Milliseconds): Walked {
  const sends: Send[] = [];
  let now = from;
  let settled = 0;
  for (const step of steps) {
    now += step.gapMs;
    if (step.waits) now = waited(dimension, step.amount, now);
    if (dimension.fits(step.amount, now)) {
      sends.push({ at: now, slot: dimension.debit(step.amount, now), amount: step.amount });
    }
    if (step.refusedFor !== undefined) dimension.throttled(now, step.refusedFor);
    const oldest = sends[settled];
    if (step.refund === 0 || !oldest) continue;
    settled += 1;
    const back = Math.floor(oldest.amount * step.refund);
    const before = dimension.used(now);
    dimension.correct(oldest.slot, -back, now);
    if (dimension.used(now) < before) oldest.amount -= back;
  }
  return { sends, endedAt: now };
}

/** The most that was sent in any half-open interval of this length. */
export function peak(sends: readonly Send[], lengthMs: Milliseconds): number {
  let most = 0;
  let sum = 0;
  let first = 0;
  for (const send of sends) {
    sum += send.amount;
    for (let oldest = sends[first]; oldest && oldest.at <= send.at - lengthMs; oldest = sends[first]) {
      sum -= oldest.amount;
      first += 1;
    }
    most = Math.max(most, sum);
  }
  return most;
}

function waited(dimension: Dimension, amount: number, now: Milliseconds): Milliseconds {
  const at = dimension.earliest(amount, now);
  return Number.isFinite(at) ? at : now;
}
