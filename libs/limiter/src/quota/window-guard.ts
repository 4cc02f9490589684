import type { Milliseconds } from '@weir/kernel';
import { TINY, type Gate, type GateAsk } from './gate.js';
import type { SlotLog } from './slot-log.js';

/**
 * At most `limit` in any window: a sliding sum over a log. Whatever lies in a slot counts until the youngest
 * instant of that slot has left, so every interval of `windowMs` holds at most the limit. Sent so, no window of W that the
 * provider keeps holds more, where `windowMs` is W and the spread of the one-way delay.
 * Several guards may share a log; the dimension writes it, once, before it tells the guards.
 */
export class WindowGuard implements Gate {
  private slots = 0;
  private ceiling = 0;
  private allowance = 0;
  private cursor: number;
  private sum = 0;

  /**
   * @param windowMs everything that may count together: W + J
   * @param limit most that counts together
   */
  constructor(
    private readonly log: SlotLog,
    windowMs: Milliseconds,
    limit: number,
  ) {
    this.cursor = log.newest;
    this.setWindow(windowMs);
    this.setLimit(limit);
  }

  setWindow(windowMs: Milliseconds): void {
    this.slots = Math.ceil(windowMs / this.log.slotMs) + 1;
    this.recount(this.cursor);
  }

  /**
   * @param limit most that counts together
   * @param utmost how full an amount above the limit may make the window. Left out: it passes an empty window only
   */
  setLimit(limit: number, utmost = 0): void {
    this.allowance = limit;
    this.ceiling = utmost;
  }

  fits(amount: number, at: Milliseconds): boolean {
    return this.used(at) <= this.roomFor(amount);
  }

  earliest({ amount, at, first }: GateAsk, from: Milliseconds): Milliseconds {
    const room = this.roomFor(amount);
    const slot = this.log.slotAt(at);
    const excess = this.usedIn(slot) + first - room;
    if (excess <= 0) return from;
    const freed = this.log.reaching(excess, slot - this.slots + 1, slot);
    return Math.max(from, this.log.startOf(freed + this.slots));
  }

  debit(amount: number, at: Milliseconds): void {
    this.usedIn(this.log.slotAt(at));
    this.sum += amount;
  }

  correct(delta: number, madeAt: Milliseconds, at: Milliseconds): void {
    this.usedIn(this.log.slotAt(at));
    if (this.holds(madeAt, at)) this.sum += delta;
  }

  postpone(amount: number, madeAt: Milliseconds, at: Milliseconds): void {
    this.correct(-amount, madeAt, at);
    this.debit(amount, at);
  }

  room(at: Milliseconds): number {
    return Math.max(0, this.allowance - this.used(at));
  }

  /** What the window still holds; of a guard that never refuses, what is missing to `limit`. */
  spare(limit: number, at: Milliseconds): number {
    return Math.max(0, Math.min(limit, this.allowance) - this.used(at));
  }

  /** Writes `total` into the log, evenly over the window that ends at `at`. */
  fillEvenly(total: number, at: Milliseconds): void {
    const slot = this.log.slotAt(at);
    for (let each = slot - this.slots + 1; each < slot; each += 1) {
      this.log.add(each, total / (this.slots - 1));
    }
    this.recount(slot);
  }

  /** Whether what was debited then still counts. */
  holds(madeAt: Milliseconds, at: Milliseconds): boolean {
    return this.log.slotAt(madeAt) > this.log.slotAt(at) - this.slots;
  }

  /** Everything that counts now. */
  used(at: Milliseconds): number {
    return this.usedIn(this.log.slotAt(at));
  }

  /** The log was rewritten under the guard. */
  recount(slot: number): void {
    this.cursor = slot;
    this.sum = this.log.sum(slot - this.slots + 1, slot);
  }

  /** How full the window may be for `amount` to pass. */
  private roomFor(amount: number): number {
    const room = amount > this.allowance ? this.ceiling - amount : this.allowance - amount;
    return (room > 0 ? room : 0) + TINY;
  }

  /** The sum is kept for one slot and moved along; a step back or around the ring counts anew, so no error adds up. */
  private usedIn(slot: number): number {
    if (slot === this.cursor) return this.sum;
    const step = slot - this.cursor;
    if (step < 0 || step >= this.slots || slot % this.slots < step) this.recount(slot);
    else {
      this.sum -= this.log.sum(this.cursor - this.slots + 1, slot - this.slots);
      this.cursor = slot;
    }
    return this.sum;
  }
}
