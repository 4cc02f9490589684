import type { Milliseconds } from '@weir/kernel';
import { TINY, type Gate, type GateAsk } from './gate.js';

/** Timers fire late; without this credit every late grant would be lost rate. Node's are 0.1 to 1 ms late, more under load. */
const TOLERANCE_MS: Milliseconds = 20;

/**
 * An even rate with a small burst: the generic cell rate algorithm in floating-point milliseconds (whole ones would
 * round the interval of 1M tokens a minute to zero). Amounts beyond the burst pass once all earlier ones are paid for.
 */
export class Pacer implements Gate {
  /** When everything that was debited is paid for ("theoretical arrival time"). */
  private paidAt: Milliseconds;
  /** Until when it was emptied: up to there it is time that has to pass, and no debt. */
  private emptyUntil: Milliseconds = -Infinity;
  private perUnitMs: Milliseconds = 0;
  private windowMs: Milliseconds = 0;
  private burstMs: Milliseconds = 0;
  private toleranceMs: Milliseconds = 0;

  constructor(limit: number, windowMs: Milliseconds, burst: number, now: Milliseconds) {
    this.paidAt = now;
    this.setRate(limit, windowMs, burst, now);
  }

  /**
   * A debt stays as many units. At a lower rate it is no more than what is left of the burst asks for, and for a window at
   * most: by then the provider has forgotten it.
   * @param burst most that may leave at once, in units
   */
  setRate(limit: number, windowMs: Milliseconds, burst: number, now: Milliseconds): void {
    const [before, burstBefore] = [this.perUnitMs, this.burst];
    this.perUnitMs = limit > 0 ? windowMs / limit : 0;
    this.windowMs = windowMs;
    this.burstMs = this.perUnitMs === 0 ? 0 : burst * this.perUnitMs;
    this.toleranceMs = Math.min(TOLERANCE_MS, windowMs / 60);
    if (before === 0) return;
    const from = Math.max(now, Math.min(this.emptyUntil, this.paidAt));
    const debtMs = Math.max(0, this.paidAt - from);
    const lost = this.perUnitMs > before ? Math.max(0, burstBefore - burst) : 0;
    const debt = Math.max(0, debtMs / before - lost);
    this.paidAt = from + Math.min(debt * this.perUnitMs, Math.max(debtMs, windowMs));
  }

  fits(amount: number, at: Milliseconds): boolean {
    return this.paidAt - at <= this.creditFor(amount);
  }

  earliest({ amount, at, first }: GateAsk, from: Milliseconds): Milliseconds {
    const paidAt = first > 0 ? Math.max(this.paidAt, at) + first * this.perUnitMs : this.paidAt;
    const free = paidAt - this.creditFor(amount) + TINY;
    return free <= at ? from : Math.max(from, free);
  }

  debit(amount: number, at: Milliseconds): void {
    this.paidAt = (this.paidAt > at ? this.paidAt : at) + amount * this.perUnitMs;
  }

  /** What an answer cost beyond its reservation is paid for in a window at most: by then the provider has forgotten it. */
  correct(delta: number, _madeAt: Milliseconds, at: Milliseconds): void {
    const before = Math.max(this.paidAt, at);
    const after = before + delta * this.perUnitMs;
    this.paidAt = Math.min(after, Math.max(before, at + this.windowMs));
  }

  /** Grants are paced, not departures: a late one owes nothing more. */
  postpone(): void {
    return;
  }

  room(at: Milliseconds): number {
    const owed = this.paidAt - at;
    if (this.perUnitMs === 0 || owed <= this.toleranceMs) return Infinity;
    return Math.max(0, (this.burstMs + this.toleranceMs - owed) / this.perUnitMs);
  }

  /** Most that may leave at once, in units. */
  get burst(): number {
    return this.perUnitMs === 0 ? 0 : this.burstMs / this.perUnitMs;
  }

  /** The burst has become so much smaller though nobody refused: from the next rest on, so that who waits waits no longer. */
  forgive(units: number, at: Milliseconds): void {
    if (units > 0 && this.paidAt > at) this.paidAt = Math.max(at, this.paidAt - units * this.perUnitMs);
  }

  /** The burst has become so much larger because somebody refused: from the next rest on, so that nobody goes sooner for it. */
  owe(units: number, at: Milliseconds): void {
    if (units > 0) this.paidAt = Math.max(this.paidAt, at) + units * this.perUnitMs;
  }

  /** Whether the burst is as good as used up: whoever comes now is held back by the pace. */
  isTight(at: Milliseconds): boolean {
    return this.perUnitMs > 0 && this.paidAt - at >= 0.9 * this.burstMs;
  }

  /** Takes the credit away, all but that of one unit: what leaves at `from` is a probe, not a burst. */
  empty(from: Milliseconds): void {
    this.emptyUntil = from;
    this.paidAt = Math.max(this.paidAt, from + Math.max(0, this.burstMs - this.perUnitMs));
  }

  /** Continues a debt, in milliseconds of pace. */
  resume(debtMs: Milliseconds, now: Milliseconds): void {
    this.paidAt = now + Math.min(debtMs, this.burstMs);
  }

  /** Time until everything is paid for. */
  debtMs(now: Milliseconds): Milliseconds {
    return Math.max(0, this.paidAt - now);
  }

  private creditFor(amount: number): Milliseconds {
    const spare = this.burstMs - amount * this.perUnitMs;
    return (spare > 0 ? spare : 0) + this.toleranceMs + TINY;
  }
}
