import type { Milliseconds } from '@weir/kernel';
import type { DimensionSpec } from './dimension.js';
import type { DimensionState, RestorableDimension } from './dimension-state.js';

/** Slots that are held, not spent: no window, whole numbers, freed by `correct(slot, -1)`. */
export class Concurrency implements RestorableDimension {
  private held = 0;
  private ceiling: number;
  pausedUntil: Milliseconds = -Infinity;

  constructor(readonly spec: DimensionSpec) {
    this.ceiling = spec.limit;
  }

  get limit(): number {
    return this.ceiling;
  }

  get largest(): number {
    return this.ceiling;
  }

  fits(amount: number, now: Milliseconds): boolean {
    return this.held + amount <= this.ceiling && now >= this.pausedUntil;
  }

  earliest(amount: number, now: Milliseconds): Milliseconds {
    return this.earliestAfter(0, amount, now);
  }

  earliestAfter(first: number, amount: number, now: Milliseconds): Milliseconds {
    return this.held + first + amount <= this.ceiling ? Math.max(now, this.pausedUntil) : Infinity;
  }

  debit(amount: number): number {
    this.held += amount;
    return 0;
  }

  correct(_slot: number, delta: number): void {
    this.held = Math.max(0, this.held + delta);
  }

  postpone(slot: number): number {
    return slot;
  }

  pause(until: Milliseconds): void {
    this.pausedUntil = Math.max(this.pausedUntil, until);
  }

  /** Nothing to learn: how many slots are free is known, and a refusal pauses. */
  throttled(): void {
    return;
  }

  setLimit(limit: number): void {
    this.ceiling = limit;
  }

  room(now: Milliseconds): number {
    return now < this.pausedUntil ? 0 : Math.max(0, this.ceiling - this.held);
  }

  spare(now: Milliseconds): number {
    return this.room(now);
  }

  spareAt(amount: number, now: Milliseconds): Milliseconds {
    return this.earliest(amount, now);
  }

  used(): number {
    return this.held;
  }

  describe(): string {
    return 'slots';
  }

  /** Slots that are held end with the process. */
  snapshot(now: Milliseconds): DimensionState {
    const pausedForMs = Math.max(0, this.pausedUntil - now);
    return { limit: this.ceiling, spent: [], debtMs: 0, pausedForMs };
  }

  restore(state: DimensionState, now: Milliseconds): void {
    this.pause(now + state.pausedForMs);
  }
}
