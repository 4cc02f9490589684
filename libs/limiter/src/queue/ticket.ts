import type { Milliseconds, Priority } from '@weir/kernel';
import type { Cost } from '../limiter.js';

/** One wait for one permit, as the order sees it. */
export interface Ticket<Flow = unknown> {
  readonly flow: Flow;
  /** Order of arrival of the request, which a retry keeps. */
  readonly age: number;
  readonly priority: Priority;
  readonly cost: Cost;
  /** Dominant share of the cost over the dimensions that teams share. */
  readonly share: number;
  /** When the wait began. */
  readonly askedAt: Milliseconds;
  /** Nothing is granted after it. */
  readonly deadline: Milliseconds;
  /** Start tag of the request's first grant, so that a retry stands where it stood. Infinity before that. */
  readonly tag: number;
  /** False once it was granted, refused or given up. It may still lie in heaps then (lazy deletion). */
  waiting: boolean;
  /** The dimension that was the last to have room, as far as was looked. */
  boundBy: string | undefined;
  /** Takes the permit; false where the ledger does not give it after all. */
  grant(now: Milliseconds): boolean;
}

/** By tokens, then by age. */
export function smallerFirst(a: Ticket, b: Ticket): boolean {
  const difference = a.cost.inputTokens + a.cost.outputTokens - b.cost.inputTokens - b.cost.outputTokens;
  return difference === 0 ? a.age < b.age : difference < 0;
}
