import { Heap } from './heap.js';

/** Something that waits until it does not any more. */
export interface Waiting {
  waiting: boolean;
}

/**
 * Those that wait, in some order. Most come in that order already, and stand in a row; only who comes before the last of
 * the row goes into a heap. One that stops waiting costs O(1): it is thrown out when it comes up, or with the others.
 */
export class WaitingLine<T extends Waiting> {
  private row: T[] = [];
  /** Those before it in the row are done with. */
  private front = 0;
  private heap: Heap<T> | undefined;

  constructor(private readonly before: (a: T, b: T) => boolean) {}

  push(newcomer: T): void {
    const last = this.row.at(-1);
    if (last === undefined || !this.before(newcomer, last)) {
      this.row.push(newcomer);
      return;
    }
    this.heap ??= new Heap(this.before);
    this.heap.push(newcomer);
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

  /** @param living how many of them still wait; the dead are never more than these and a few */
  tidy(living: number): void {
    if (this.row.length + (this.heap?.size ?? 0) <= 2 * living + 32) return;
    this.row = this.row.slice(this.front).filter(({ waiting }) => waiting);
    this.front = 0;
    this.heap?.prune(({ waiting }) => waiting);
  }

  /** Those that wait, in no order. */
  living(): T[] {
    return [...this.row.slice(this.front), ...(this.heap ?? [])].filter(({ waiting }) => waiting);
  }
}

function firstAlive<T extends Waiting>(heap: Heap<T>): T | undefined {
  let first = heap.peek();
  while (first !== undefined && !first.waiting) {
    heap.pop();
    first = heap.peek();
  }
  return first;
}
