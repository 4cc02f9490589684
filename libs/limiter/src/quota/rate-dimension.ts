import type { Milliseconds } from '@weir/kernel';
import type { DimensionSpec } from './dimension.js';
import type { DimensionState, RestorableDimension } from './dimension-state.js';
import type { GateAsk } from './gate.js';
import type { Regime } from './regime.js';
import type { SlotLog } from './slot-log.js';

/** Everything that is spent per window: a log of what was spent, and a regime of gates that reads it. */
export class RateDimension implements RestorableDimension {
  private ceiling: number;
  /** The largest amount that any time can let pass: a declared slice or bucket may hold less than the limit. */
  private most = 0;
  /** Time never runs backwards here: a clock that does is waited for, so no window gets shorter. */
  private latest: Milliseconds;
  private paused: Milliseconds = -Infinity;
  /** When asking is worth while again: the pause, or never where the limit is zero. */
  private closedUntil: Milliseconds = -Infinity;

  constructor(
    readonly spec: DimensionSpec,
    private readonly log: SlotLog,
    private readonly regime: Regime,
    now: Milliseconds,
  ) {
    this.latest = now;
    this.ceiling = spec.limit;
    this.reopen();
    this.measure();
  }

  get limit(): number {
    return this.ceiling;
  }

  get largest(): number {
    return this.most;
  }

  get pausedUntil(): Milliseconds {
    return this.paused;
  }

  fits(amount: number, now: Milliseconds): boolean {
    if (now < this.closedUntil || amount > this.most) return false;
    const at = now > this.latest ? now : this.latest;
    for (const gate of this.regime.gates) if (!gate.fits(amount, at)) return false;
    return true;
  }

  earliest(amount: number, now: Milliseconds): Milliseconds {
    return this.earliestAfter(0, amount, now);
  }

  earliestAfter(first: number, amount: number, now: Milliseconds): Milliseconds {
    if (amount > this.most) return Infinity;
    const ask: GateAsk = { amount, first, at: this.clamped(now) };
    let from = Math.max(now, this.closedUntil);
    for (const gate of this.regime.gates) from = gate.earliest(ask, from);
    return from;
  }

  /** The slot is the instant: every gate knows which of its own it falls into. */
  debit(amount: number, now: Milliseconds): number {
    const at = now > this.latest ? now : this.latest;
    this.latest = at;
    for (const gate of this.regime.gates) gate.debit(amount, at);
    this.log.add(this.log.slotAt(at), amount);
    this.regime.debited(at);
    return at;
  }

  correct(slot: number, delta: number, now: Milliseconds): void {
    const at = this.clamped(now);
    this.latest = at;
    if (!this.regime.guard.holds(slot, at)) return;
    const cell = this.log.slotAt(slot);
    const real = Math.max(delta, -this.log.at(cell));
    for (const gate of this.regime.gates) gate.correct(real, slot, at);
    this.log.add(cell, real);
  }

  postpone(slot: number, amount: number, now: Milliseconds): number {
    const at = this.clamped(now);
    this.latest = at;
    const [from, to] = [this.log.slotAt(slot), this.log.slotAt(at)];
    if (from === to) return slot;
    for (const gate of this.regime.gates) gate.postpone(amount, slot, at);
    if (this.regime.guard.holds(slot, at)) this.log.add(from, -amount);
    this.log.add(to, amount);
    return at;
  }

  pause(until: Milliseconds): void {
    this.paused = Math.max(this.paused, until);
    this.reopen();
  }

  throttled(now: Milliseconds, hintMs: Milliseconds | undefined): void {
    this.latest = this.clamped(now);
    const until = Math.max(this.paused, this.latest + (hintMs ?? 0));
    this.regime.throttled(this.latest, hintMs, until);
  }

  setLimit(limit: number, now: Milliseconds): void {
    if (limit === this.ceiling) return;
    this.latest = this.clamped(now);
    this.ceiling = limit;
    this.reopen();
    if (limit > 0) this.regime.setLimit(limit, this.latest);
    this.measure();
  }

  room(now: Milliseconds): number {
    if (now < this.closedUntil) return 0;
    const at = this.clamped(now);
    return this.regime.gates.reduce((least, gate) => Math.min(least, gate.room(at)), this.ceiling);
  }

  spare(now: Milliseconds): number {
    return now < this.closedUntil ? 0 : this.regime.guard.spare(this.ceiling, this.clamped(now));
  }

  spareAt(amount: number, now: Milliseconds): Milliseconds {
    const ask: GateAsk = { amount: 0, first: amount, at: this.clamped(now) };
    return this.regime.guard.earliest(ask, Math.max(now, this.closedUntil));
  }

  used(now: Milliseconds): number {
    return this.regime.guard.used(this.clamped(now));
  }

  describe(): string {
    return this.regime.describe();
  }

  snapshot(now: Milliseconds): DimensionState {
    const at = this.clamped(now);
    const spent: [Milliseconds, number][] = [];
    for (let slot = this.log.oldest; slot <= this.log.newest; slot += 1) {
      const amount = this.log.at(slot);
      if (amount > 0 && this.regime.guard.holds(this.log.startOf(slot), at)) {
        spent.push([Math.max(0, at - this.log.startOf(slot)), amount]);
      }
    }
    const pausedForMs = Math.max(0, this.paused - now);
    return { limit: this.ceiling, spent, pausedForMs, ...this.regime.snapshot(at) };
  }

  restore(state: DimensionState, now: Milliseconds): void {
    const at = this.clamped(now);
    this.latest = at;
    this.log.clear();
    for (const [ageMs, amount] of state.spent) {
      // The slot after the one that held it: rounding must not let it leave early.
      const slot = Math.min(this.log.slotAt(at), this.log.slotAt(at - ageMs) + 1);
      if (slot > this.log.oldest) this.log.add(slot, amount);
    }
    const { debtMs, learned } = state;
    this.regime.restore(learned && state.limit === this.ceiling ? { debtMs, learned } : { debtMs }, at);
    this.pause(now + state.pausedForMs);
  }

  private clamped(now: Milliseconds): Milliseconds {
    return Math.max(now, this.latest);
  }

  private reopen(): void {
    this.closedUntil = this.ceiling > 0 ? this.paused : Infinity;
  }

  private measure(): void {
    this.most = Math.min(this.ceiling, this.regime.largest);
  }
}
