import type { Clock, EpochMilliseconds, Milliseconds, Random, Timer, Timers } from '@weir/kernel';

interface Pending {
  readonly at: Milliseconds;
  readonly order: number;
  run: (() => void) | undefined;
}

/** Node's timers are late by about this much. */
const MOST_LATENESS_MS: Milliseconds = 1.5;

/** A clock that jumps from event to event: hours of traffic in a second, and the same every time. */
export class VirtualTime implements Clock, Timers {
  private time: Milliseconds = 0;
  private order = 0;
  private readonly heap: Pending[] = [];

  constructor(private readonly random: Random) {}

  now(): Milliseconds {
    return this.time;
  }

  epochNow(): EpochMilliseconds {
    return 0 + this.time;
  }

  /** A timer of the process under test: never early, and late by a little. */
  after(delayMs: Milliseconds, run: () => void): Timer {
    return this.at(this.time + Math.max(0, delayMs) + this.random.next() * MOST_LATENESS_MS, run);
  }

  /** An event of the world: exactly then. */
  at(at: Milliseconds, run: () => void): Timer {
    const entry: Pending = { at, order: this.order++, run };
    this.heap.push(entry);
    this.rise(this.heap.length - 1);
    return {
      cancel: () => {
        entry.run = undefined;
      },
    };
  }

  /** Runs everything until `end`. @param settle lets promises run after each event */
  async runUntil(end: Milliseconds, settle?: () => Promise<void>): Promise<void> {
    for (let first = this.heap[0]; first && first.at <= end; first = this.heap[0]) {
      this.removeFirst();
      if (!first.run) continue;
      this.time = Math.max(this.time, first.at);
      first.run();
      if (settle) await settle();
    }
    this.time = end;
  }

  private removeFirst(): void {
    const last = this.heap.pop();
    if (last === undefined || this.heap.length === 0) return;
    this.heap[0] = last;
    this.sink();
  }

  private rise(from: number): void {
    let index = from;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.swapIfEarlier(index, parent)) return;
      index = parent;
    }
  }

  private sink(): void {
    for (let index = 0; ;) {
      const [left, right] = [2 * index + 1, 2 * index + 2];
      const child = right < this.heap.length && this.isEarlier(right, left) ? right : left;
      if (child >= this.heap.length || !this.swapIfEarlier(child, index)) return;
      index = child;
    }
  }

  private swapIfEarlier(one: number, other: number): boolean {
    const [a, b] = [this.heap[one], this.heap[other]];
    if (!a || !b || !this.isEarlier(one, other)) return false;
    this.heap[one] = b;
    this.heap[other] = a;
    return true;
  }

  private isEarlier(one: number, other: number): boolean {
    const [a, b] = [this.heap[one], this.heap[other]];
    if (!a || !b) return false;
    return a.at < b.at || (a.at === b.at && a.order < b.order);
  }
}

/** Lets every promise run that can. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
