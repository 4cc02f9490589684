import type { Milliseconds } from '@weir/kernel';
import { TINY, type Gate, type GateAsk } from './gate.js';
import type { SlotLog } from './slot-log.js';

/**
 * At most `limit` in any window: a sliding sum over a log. Whatever lies in a slot counts until the youngest
 * instant of that slot has left, so every interval of `windowMs` holds at most the limit (limiter.md 1.2).
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
    this.setLimit(limit, limit);
  }

  setWindow(windowMs: Milliseconds): void {
    this.slots = Math.ceil(windowMs / this.log.slotMs) + 1;
    this.recount(this.cursor);
  }

  /**
   * @param limit most that counts together
   * @param utmost what one large amount may fill, where it is larger than the limit: it waits for an emptier window
   */
  setLimit(limit: number, utmost: number): void {
    this.allowance = limit;
    this.ceiling = Math.max(limit, utmost);
  }

  fits(amount: number, at: Milliseconds): boolean {
    return this.used(at) <= this.roomFor(amount);
  }

  earliest({ amount, at, first }: GateAsk, from: Milliseconds): Milliseconds {
    const room = this.roomFor(amount);
    if (room < 0) return Infinity;
    const slot = this.log.slotAt(at);
    let excess = this.usedIn(slot) + first - room;
    if (excess <= 0) return from;
    for (let each = slot - this.slots + 1; each < slot; each += 1) {
      excess -= this.log.at(each);
      if (excess <= 0) return Math.max(from, this.log.startOf(each + this.slots));
    }
    return Math.max(from, this.log.startOf(slot + this.slots));
  }

  debit(amount: number, at: Milliseconds): void {
    this.usedIn(this.log.slotAt(at));
    this.sum += amount;
  }

  correct(delta: number, madeAt: Milliseconds, at: Milliseconds): void {
    this.usedIn(this.log.slotAt(at));
    if (this.holds(madeAt, at)) this.sum += delta;
  }

  room(at: Milliseconds): number {
    return Math.max(0, this.allowance - this.used(at));
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
    this.sum = 0;
    for (let each = slot - this.slots + 1; each <= slot; each += 1) this.sum += this.log.at(each);
  }

  /** How full the window may be for `amount` to pass. */
  private roomFor(amount: number): number {
    return (amount > this.allowance ? this.ceiling : this.allowance) - amount + TINY;
  }

  /** The sum is kept for one slot and moved along; a step back or around the ring counts anew, so no error adds up. */
  private usedIn(slot: number): number {
    if (slot === this.cursor) return this.sum;
    const step = slot - this.cursor;
    if (step < 0 || step >= this.slots || slot % this.slots < step) this.recount(slot);
    else {
      for (let each = this.cursor; each < slot; each += 1) this.sum -= this.log.at(each - this.slots + 1);
      this.cursor = slot;
    }
    return this.sum;
  }
}
