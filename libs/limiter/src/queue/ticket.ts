import type { Milliseconds, Priority } from '@weir/kernel';
import type { Cost } from '../limiter.js';
import { Heap } from './heap.js';

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

/**
 * Tickets in some order. Most come in that order already, and stand in a row; only who comes before the last of the row
 * goes into a heap. One that stops waiting costs O(1): it is thrown out when it comes up, or with the others.
 */
export class TicketOrder<T extends Ticket> {
  private row: T[] = [];
  /** Those before it in the row are done with. */
  private front = 0;
  private heap: Heap<T> | undefined;

  constructor(private readonly before: (a: T, b: T) => boolean) {}

  push(ticket: T): void {
    const last = this.row.at(-1);
    if (last === undefined || !this.before(ticket, last)) {
      this.row.push(ticket);
      return;
    }
    this.heap ??= new Heap(this.before);
    this.heap.push(ticket);
  }

  first(): T | undefined {
    let ahead = this.row[this.front];
    while (ahead !== undefined && !ahead.waiting) {
      this.front += 1;
      ahead = this.row[this.front];
    }
    if (this.heap === undefined) return ahead;
    const other = firstAlive(this.heap);
    return ahead === undefined || (other !== undefined && this.before(other, ahead)) ? other : ahead;
  }

  /** @param living how many of the tickets still wait; the dead are never more than these and a few */
  tidy(living: number): void {
    if (this.row.length + (this.heap?.size ?? 0) <= 2 * living + 32) return;
    this.row = this.row.slice(this.front).filter((ticket) => ticket.waiting);
    this.front = 0;
    this.heap?.prune((ticket) => ticket.waiting);
  }

  /** Those that wait, in no order. */
  living(): T[] {
    return [...this.row.slice(this.front), ...(this.heap ?? [])].filter((ticket) => ticket.waiting);
  }
}

function firstAlive<T extends Ticket>(heap: Heap<T>): T | undefined {
  let first = heap.peek();
  while (first !== undefined && !first.waiting) {
    heap.pop();
    first = heap.peek();
  }
  return first;
}
