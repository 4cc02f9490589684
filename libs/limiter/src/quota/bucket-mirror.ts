import type { Milliseconds } from '@weir/kernel';
import { TINY, type Gate, type GateAsk } from './gate.js';
import type { SlotLog } from './slot-log.js';

/** Debts are kept as what is missing to this, because an empty slot of a log holds zero. Beyond any debt. */
const ABYSS_MS: Milliseconds = 1e9;

/**
 * A provider's token bucket, seen at its worst: every debit may arrive up to J later than a debit made after it, so
 * its refill starts J after it was sent. Then in every interval tau no more than capacity + rate * tau arrives, and an
 * amount as large as the whole capacity still passes after a rest (a capacity of C - rate * J would refuse it for ever).
 */
export class BucketMirror implements Gate {
  /** When the bucket is full again. */
  private fullAt: Milliseconds;
  /** Until when it was emptied: up to there it is time that has to pass, and no debt. */
  private emptyUntil: Milliseconds = -Infinity;
  private perUnitMs: Milliseconds = 0;
  private capacity = 0;
  private delaySpreadMs: Milliseconds = 0;

  /** @param dips a log of its own: how small the debt was before the debits of each slot */
  constructor(
    private readonly dips: SlotLog,
    now: Milliseconds,
  ) {
    this.fullAt = now;
  }

  /**
   * What it holds stays, as far as the new capacity holds it: a provider's bucket does not fill up for a new limit.
   * @param rate units per millisecond, above zero; Infinity disables
   */
  setShape(rate: number, capacity: number, delaySpreadMs: Milliseconds, now: Milliseconds): void {
    const [perUnitMs, size] = [this.perUnitMs, this.capacity];
    this.perUnitMs = 1 / rate;
    this.capacity = capacity;
    this.delaySpreadMs = delaySpreadMs;
    if (perUnitMs === 0 || this.perUnitMs === 0) return;
    const from = Math.max(now, Math.min(this.emptyUntil, this.fullAt));
    const debtMs = Math.max(0, this.fullAt - from);
    const lateMs = Math.min(delaySpreadMs, debtMs);
    const level = size - (debtMs - lateMs) / perUnitMs;
    this.fullAt = from + lateMs + Math.max(0, capacity - level) * this.perUnitMs;
  }

  fits(amount: number, at: Milliseconds): boolean {
    return this.fullAt - at <= this.spare(amount) && amount <= this.capacity;
  }

  earliest({ amount, at, first }: GateAsk, from: Milliseconds): Milliseconds {
    if (amount > this.capacity) return Infinity;
    const fullAt = first > 0 ? this.fullAfter(first, at) : this.fullAt;
    const free = fullAt - this.spare(amount) + TINY;
    return free <= at ? from : Math.max(from, free);
  }

  debit(amount: number, at: Milliseconds): void {
    const slot = this.dips.slotAt(at);
    const dip = ABYSS_MS - Math.max(0, this.fullAt - at - this.delaySpreadMs);
    this.dips.add(slot, Math.max(0, dip - this.dips.at(slot)));
    this.fullAt = this.fullAfter(amount, at);
  }

  /**
   * Gives back only what the bucket would hold now, had the debit been smaller: where it was full in between, that
   * part was lost. Within one slot the order is not known; the length of a slot is held back.
   */
  correct(delta: number, madeAt: Milliseconds, at: Milliseconds): void {
    const wanted = -delta * this.perUnitMs;
    if (wanted <= 0) this.fullAt = Math.max(this.fullAt, at) - wanted;
    else this.giveBack(wanted, madeAt);
  }

  /** Its refill starts when it leaves: the bucket owes at least that much then. */
  postpone(amount: number, _madeAt: Milliseconds, at: Milliseconds): void {
    this.fullAt = Math.max(this.fullAt, at + this.delaySpreadMs + amount * this.perUnitMs);
  }

  room(at: Milliseconds): number {
    if (this.perUnitMs === 0) return Infinity;
    return Math.max(0, this.capacity - this.debtMs(at) / this.perUnitMs);
  }

  /** The capacity in force. */
  get size(): number {
    return this.capacity;
  }

  /** Time until the bucket is full. */
  debtMs(at: Milliseconds): Milliseconds {
    return Math.max(0, this.fullAt - at);
  }

  /** Continues a debt in place of the present one, never more than an empty bucket's. */
  resume(debtMs: Milliseconds, now: Milliseconds): void {
    const most = this.perUnitMs === 0 ? 0 : this.capacity * this.perUnitMs + this.delaySpreadMs;
    this.fullAt = now + Math.min(debtMs, most);
  }

  /** The provider's bucket is emptier than the mirror: from `from` on only the refill counts. */
  empty(from: Milliseconds): void {
    if (this.perUnitMs === 0) return;
    this.emptyUntil = from;
    this.fullAt = Math.max(this.fullAt, from + Math.max(0, this.capacity - 1) * this.perUnitMs);
  }

  private spare(amount: number): Milliseconds {
    return this.perUnitMs === 0 ? Infinity : (this.capacity - amount) * this.perUnitMs + TINY;
  }

  private fullAfter(amount: number, at: Milliseconds): Milliseconds {
    return Math.max(this.fullAt, at + this.delaySpreadMs) + amount * this.perUnitMs;
  }

  private giveBack(wanted: Milliseconds, madeAt: Milliseconds): void {
    const own = this.dips.slotAt(madeAt);
    const { newest, oldest } = this.dips;
    if (own <= oldest) return;
    let given = Math.min(wanted, Math.max(this.debtSeenIn(own), wanted - this.dips.slotMs, 0));
    for (let slot = own + 1; slot <= newest; slot += 1) given = Math.min(given, this.debtSeenIn(slot));
    this.fullAt -= given;
    for (let slot = own + 1; slot <= newest; slot += 1)
      if (this.dips.at(slot) > 0) this.dips.add(slot, given);
  }

  private debtSeenIn(slot: number): Milliseconds {
    return ABYSS_MS - this.dips.at(slot);
  }
}
