import type { Milliseconds } from '@weir/kernel';

const { floor } = Math;

/** A window is cut into at least this many slots: what is lost to rounding is under 0.1 % of the quota. */
const SLOTS_PER_WINDOW = 1000;

/**
 * What was spent when, in slots of equal length: a ring that remembers at least `spanMs`.
 * Slots last a power of two of milliseconds, so that slot <-> time is exact in floating point and an instant
 * that was computed as the end of a slot really is in the next one.
 */
export class SlotLog {
  readonly slotMs: Milliseconds;
  private readonly perMs: number;
  private readonly cells: Float64Array;
  private readonly mask: number;
  private newestSlot: number;

  /**
   * @param windowMs W; decides how fine the slots are
   * @param spanMs the oldest age that will ever be asked for
   * @param slotsPerWindow at least so many
   */
  constructor(
    windowMs: Milliseconds,
    spanMs: Milliseconds,
    now: Milliseconds,
    slotsPerWindow = SLOTS_PER_WINDOW,
  ) {
    this.slotMs = 2 ** Math.floor(Math.log2(windowMs / slotsPerWindow));
    this.perMs = 1 / this.slotMs;
    const size = 2 ** Math.ceil(Math.log2(spanMs / this.slotMs + 4));
    this.cells = new Float64Array(size);
    this.mask = size - 1;
    this.newestSlot = this.slotAt(now);
  }

  /** The youngest slot that was written. */
  get newest(): number {
    return this.newestSlot;
  }

  /** The oldest slot that is still remembered. */
  get oldest(): number {
    return this.newestSlot - this.mask;
  }

  slotAt(time: Milliseconds): number {
    return floor(time * this.perMs);
  }

  /** When a slot begins. */
  startOf(slot: number): Milliseconds {
    return slot * this.slotMs;
  }

  /** What a slot holds; nothing outside of what is remembered. */
  at(slot: number): number {
    return slot > this.newestSlot || slot < this.oldest ? 0 : (this.cells[slot & this.mask] ?? 0);
  }

  /** Everything in the slots from `first` to `last`. */
  sum(first: number, last: number): number {
    let total = 0;
    const end = Math.min(last, this.newestSlot);
    for (let slot = Math.max(first, this.oldest); slot <= end; slot += 1) {
      total += this.cells[slot & this.mask] ?? 0;
    }
    return total;
  }

  /** The first slot from `first` on, by whose end at least `amount` was spent; `last` where that never happens. */
  reaching(amount: number, first: number, last: number): number {
    let total = 0;
    const end = Math.min(last - 1, this.newestSlot);
    for (let slot = Math.max(first, this.oldest); slot <= end; slot += 1) {
      total += this.cells[slot & this.mask] ?? 0;
      if (total >= amount) return slot;
    }
    return last;
  }

  /** Adds to a slot that is remembered or new. A slot never falls below zero. Returns what was really added. */
  add(slot: number, amount: number): number {
    if (slot > this.newestSlot) this.turnTo(slot);
    const index = slot & this.mask;
    const before = this.cells[index] ?? 0;
    const after = Math.max(0, before + amount);
    this.cells[index] = after;
    return after - before;
  }

  /** Forgets everything. */
  clear(): void {
    this.cells.fill(0);
  }

  private turnTo(slot: number): void {
    if (slot - this.newestSlot > this.mask) this.cells.fill(0);
    else for (let each = this.newestSlot + 1; each <= slot; each += 1) this.cells[each & this.mask] = 0;
    this.newestSlot = slot;
  }
}
