import type { Milliseconds } from '@weir/kernel';
import { TINY, type Gate, type GateAsk } from './gate.js';
import type { Share } from './share.js';

/** Nothing is sent after this part of a cell, so that all sends of a cell arrive close together. */
const OPEN_SHARE = 0.3;
/** What a cell holds leaves one after the other in this part of it, so that a refusal of the first can stop the rest. */
const SPREAD_SHARE = OPEN_SHARE / 2;
/**
 * After so many cells without a debit the next one may come at any time, and sets the phase anew. Where two limits of one
 * request both have cells, the open parts of one may never meet those of the other: nothing would go for ever.
 */
const IDLE_CELLS = 60;

/**
 * A provider that counts in cells of its own, met by cells of the same length: while the phase between the two is
 * steady, each of its cells holds what one of ours holds, unless its boundary falls where ours sends. Then half a cell
 * on it does not. Spacing by q + J would cost J / (q + J) of the quota instead.
 */
export class PhaseCells implements Gate {
  /** The cell that was debited last, and what it holds. */
  private cell: number;
  private count: number;
  private anew = false;
  /** When the next may leave, where those of a cell may not leave together. */
  private nextAt: Milliseconds = -Infinity;

  /**
   * Starts with the running cell full: what was sent just now is not known to it.
   * @param phase when some cell begins
   * @param together most that may leave at once: where a cell holds more, none leave together
   */
  constructor(
    private readonly share: Share,
    private phase: Milliseconds,
    at: Milliseconds,
    private readonly together = Infinity,
  ) {
    this.cell = this.cellAt(at);
    this.count = share.amount;
  }

  /** The same cells, beginning half a cell later. */
  shifted(at: Milliseconds): PhaseCells {
    return new PhaseCells(this.share, this.phase + this.share.perMs / 2, at, this.together);
  }

  /** Whether they began anew since they were made: what was found out about the phase is of another one. */
  get beganAnew(): boolean {
    return this.anew;
  }

  fits(amount: number, at: Milliseconds): boolean {
    const cell = this.cellAt(at);
    const before = this.countIn(cell);
    const isTurn = this.nextAt <= at && this.turnOf(cell, before) <= at;
    return isTurn && this.isOpen(at, cell) && this.holds(before + amount);
  }

  earliest(ask: GateAsk, from: Milliseconds): Milliseconds {
    const { amount, at, first } = ask;
    if (first > 0 && this.isIdle(this.cellAt(at)))
      return this.begun(first, at).earliest({ ...ask, first: 0 }, from);
    const next = first > 0 ? Math.max(this.nextAt, at) + first * this.gapMs : this.nextAt;
    const time = Math.max(at, from, next);
    const cell = this.cellAt(time);
    const before = this.countIn(cell) + (cell === this.cellAt(at) ? first : 0);
    if (!this.isOpen(time, cell) || !this.holds(before + amount)) return this.startOf(cell + 1);
    const turn = this.turnOf(cell, before);
    if (turn > time) return turn;
    return time > Math.max(at, from) ? time : from;
  }

  debit(amount: number, at: Milliseconds): void {
    if (this.isIdle(this.cellAt(at))) this.begin(at);
    this.nextAt = at + amount * this.gapMs;
    const cell = this.cellAt(at);
    // During a rest the cell after it is kept, or the phase would be lost.
    if (cell < this.cell) return;
    this.count = this.countIn(cell) + amount;
    this.cell = cell;
  }

  /** Nothing leaves before `until`, and not for want of work: the phase stays. */
  rest(until: Milliseconds): void {
    const cell = this.cellAt(until);
    if (cell > this.cell) [this.cell, this.count] = [cell, 0];
  }

  correct(delta: number, madeAt: Milliseconds): void {
    if (this.cellAt(madeAt) === this.cell) this.count = Math.max(0, this.count + delta);
  }

  postpone(amount: number, madeAt: Milliseconds, at: Milliseconds): void {
    this.correct(-amount, madeAt);
    this.debit(amount, at);
  }

  room(at: Milliseconds): number {
    const cell = this.cellAt(at);
    const before = this.countIn(cell);
    const isTurn = this.isOpen(at, cell) && Math.max(this.nextAt, this.turnOf(cell, before)) <= at;
    return isTurn ? Math.max(0, this.share.amount - before) : 0;
  }

  private holds(amount: number): boolean {
    return amount <= this.share.amount + TINY;
  }

  /** What lies between two that may not leave together: all of a cell leave while it is open. */
  private get gapMs(): Milliseconds {
    const { amount, perMs } = this.share;
    return amount > this.together ? (SPREAD_SHARE * perMs) / amount : 0;
  }

  /** When what comes after so much may leave. */
  private turnOf(cell: number, before: number): Milliseconds {
    return this.startOf(cell) + (SPREAD_SHARE * this.share.perMs * before) / this.share.amount;
  }

  private isOpen(at: Milliseconds, cell: number): boolean {
    return at - this.startOf(cell) <= this.share.perMs * OPEN_SHARE || this.isIdle(cell);
  }

  private isIdle(cell: number): boolean {
    return cell - this.cell > IDLE_CELLS;
  }

  /** As they are after a debit that sets the phase. */
  private begun(amount: number, at: Milliseconds): PhaseCells {
    const cells = new PhaseCells(this.share, this.phaseFrom(at), at, this.together);
    cells.count = amount;
    cells.nextAt = at + amount * this.gapMs;
    return cells;
  }

  /** In the middle of the open part: it is open for a while before and after, where others are open too. */
  private phaseFrom(at: Milliseconds): Milliseconds {
    return at - SPREAD_SHARE * this.share.perMs;
  }

  private begin(at: Milliseconds): void {
    this.phase = this.phaseFrom(at);
    [this.cell, this.count, this.anew] = [this.cellAt(at), 0, true];
  }

  private countIn(cell: number): number {
    return cell === this.cell ? this.count : 0;
  }

  private cellAt(at: Milliseconds): number {
    return Math.floor((at - this.phase) / this.share.perMs + TINY);
  }

  private startOf(cell: number): Milliseconds {
    return this.phase + cell * this.share.perMs;
  }
}
