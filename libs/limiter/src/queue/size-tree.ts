import type { Milliseconds } from '@weir/kernel';
import type { Cost } from '../limiter.js';
import type { Ticket } from './ticket.js';

/** A search asks about so many costs at most: where many nearly fit, it does not take longer the more there are. */
const MOST_QUESTIONS = 64;

/** When a cost may go: undefined for now, Infinity where no time is known. What is not larger in any way may go no later. */
export type When<T> = (cost: Cost, ticket: T | undefined) => Milliseconds | undefined;

/** The oldest that may go, or when it is worth while to ask again. */
export interface Found<T> {
  readonly ticket: T | undefined;
  readonly at: Milliseconds;
}

/**
 * Those that wait, where input and output are limited apart: then no order has the one first that fits into a gap. A
 * binary tree over the order of arrival knows the least of each kind below every node, and whole branches are passed
 * over where even these do not fit. One that stops waiting is thrown out when it comes up.
 */
export class SizeTree<T extends Ticket> {
  private leaves: (T | undefined)[] = [];
  private width = 16;
  private inputs = new Float64Array(0);
  private outputs = new Float64Array(0);
  private questions = 0;

  constructor(tickets: readonly T[]) {
    this.build(tickets);
  }

  push(ticket: T): void {
    if (this.leaves.length === this.width)
      this.build(this.leaves.filter((each) => each !== undefined && each.waiting) as T[]);
    this.leaves.push(ticket);
    this.raise(this.width + this.leaves.length - 1, ticket.cost);
  }

  find(when: When<T>): Found<T> {
    this.questions = 0;
    return this.search(1, when);
  }

  private search(node: number, when: When<T>): Found<T> {
    const ticket = this.leaves[node - this.width];
    if (ticket !== undefined && !ticket.waiting) this.clear(node);
    const cost = { inputTokens: this.inputs[node] ?? Infinity, outputTokens: this.outputs[node] ?? Infinity };
    if (cost.inputTokens === Infinity || this.questions >= MOST_QUESTIONS)
      return { ticket: undefined, at: Infinity };
    this.questions += 1;
    const at = when(cost, ticket);
    if (at !== undefined) return { ticket: undefined, at };
    if (node >= this.width) return { ticket, at: Infinity };
    const left = this.search(2 * node, when);
    if (left.ticket !== undefined) return left;
    const right = this.search(2 * node + 1, when);
    return right.ticket === undefined ? { ticket: undefined, at: Math.min(left.at, right.at) } : right;
  }

  private build(tickets: readonly T[]): void {
    while (this.width < 2 * tickets.length) this.width *= 2;
    this.leaves = [...tickets];
    this.inputs = new Float64Array(2 * this.width).fill(Infinity);
    this.outputs = new Float64Array(2 * this.width).fill(Infinity);
    for (const [index, { cost }] of tickets.entries()) this.raise(this.width + index, cost);
  }

  /** A new leaf: it may be the least of all that are above it. */
  private raise(leaf: number, { inputTokens, outputTokens }: Cost): void {
    for (let node = leaf; node >= 1; node >>= 1) {
      this.inputs[node] = Math.min(this.inputs[node] ?? Infinity, inputTokens);
      this.outputs[node] = Math.min(this.outputs[node] ?? Infinity, outputTokens);
    }
  }

  private clear(leaf: number): void {
    this.leaves[leaf - this.width] = undefined;
    this.inputs[leaf] = Infinity;
    this.outputs[leaf] = Infinity;
    for (let node = leaf >> 1; node >= 1; node >>= 1) {
      this.inputs[node] = least(this.inputs, node);
      this.outputs[node] = least(this.outputs, node);
    }
  }
}

function least(values: Float64Array, node: number): number {
  return Math.min(values[2 * node] ?? Infinity, values[2 * node + 1] ?? Infinity);
}
