import type { Milliseconds, Target, Tokens } from '@weir/kernel';
import type { Cost, DimensionUnit } from '../limiter.js';
import type { Dimension } from '../quota/dimension.js';

/**
 * What was spent when, over named dimensions. Admission is all or nothing: either every dimension of a vector is
 * debited in one synchronous step, or none has changed. Settlement corrects each debit in its own slot.
 */
export interface Ledger {
  readonly dimensions: Iterable<Dimension>;
  dimension(id: string): Dimension | undefined;
  /**
   * Every dimension that a team's attempt at a target debits. It always holds a request dimension of the model,
   * unlimited where none was declared, so that one target alone can be paused.
   */
  vector(target: Target, team: string): Vector;
  /** Debits the whole vector, or returns undefined and has changed nothing. */
  admit(vector: Vector, cost: Cost, now: Milliseconds): Entry | undefined;
  /** The attempt of an entry leaves now: its debits count from now on. At most once per entry, before it is settled. */
  postpone(entry: Entry, now: Milliseconds): void;
  /** Ends an entry: its slots are free, the rest becomes what `charge` says. Once per entry. */
  settle(entry: Entry, charge: Charge, now: Milliseconds): void;
}

/** Dimensions that are debited together. */
export type Vector = readonly Dimension[];

/** A vector that was debited. */
export interface Entry {
  readonly vector: Vector;
  readonly cost: Cost;
  /** Where each dimension wrote its debit, in the order of the vector. */
  readonly slots: number[];
}

/** What an attempt costs in the end. */
export interface Charge {
  readonly requests: 0 | 1;
  readonly inputTokens: Tokens;
  readonly outputTokens: Tokens;
  /** Its slots were given back before. */
  readonly slotIsFree?: boolean;
}

/** What an attempt reserves of one dimension. One request and one slot are implied. */
export function amountOf(unit: DimensionUnit, cost: Cost): number {
  switch (unit) {
    case 'tokens':
      return cost.inputTokens + cost.outputTokens;
    case 'input_tokens':
      return cost.inputTokens;
    case 'output_tokens':
      return cost.outputTokens;
    default:
      return 1;
  }
}

/** Whether a cost can be counted. */
export function isCost({ inputTokens, outputTokens }: Cost): boolean {
  return inputTokens >= 0 && outputTokens >= 0 && inputTokens + outputTokens < Infinity;
}

/** What has to be added to a debit so that it shows the charge. Negative gives room back. */
export function correctionOf(unit: DimensionUnit, cost: Cost, charge: Charge): number {
  switch (unit) {
    case 'slots':
      return charge.slotIsFree ? 0 : -1;
    case 'requests':
    case 'requests_per_day':
      return charge.requests - 1;
    default:
      return amountOf(unit, charge) - amountOf(unit, cost);
  }
}

/** True where every request takes the same of a dimension, so that what blocks one blocks all. */
export function countsRequests(unit: DimensionUnit): boolean {
  return unit === 'requests' || unit === 'slots' || unit === 'requests_per_day';
}

/** The dimension that will be the last to have room. */
export interface Block {
  readonly dimension: Dimension;
  /** When it has room, if nothing else is debited. Infinity: not by time alone. */
  readonly at: Milliseconds;
}

/** What keeps a cost from being admitted now, or undefined. */
export function blockOf(vector: Vector, cost: Cost, now: Milliseconds): Block | undefined {
  let last: Dimension | undefined;
  let at = now;
  for (const dimension of vector) {
    const amount = amountOf(dimension.spec.unit, cost);
    if (dimension.fits(amount, now)) continue;
    const earliest = dimension.earliest(amount, now);
    if (last !== undefined && earliest <= at) continue;
    last = dimension;
    at = earliest;
  }
  return last && { dimension: last, at };
}

/** The dimension that can never admit this cost, whatever time passes, or undefined. A stopped one (0) may be restarted. */
export function tooLargeFor(vector: Vector, cost: Cost): Dimension | undefined {
  return vector.find(({ limit, largest, spec }) => limit > 0 && amountOf(spec.unit, cost) > largest);
}

/** No grant over this vector before then, whatever room there is. */
export function pausedUntil(vector: Vector): Milliseconds {
  let until = -Infinity;
  for (const dimension of vector) if (dimension.pausedUntil > until) until = dimension.pausedUntil;
  return until;
}
