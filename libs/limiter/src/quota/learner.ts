import type { Milliseconds } from '@weir/kernel';
import { CELL_PARTS, MIDDLE_PARTS, ONE_EVENT_MS } from './defaults.js';
import type { CellState, Knobs } from './knobs.js';

/** What was seen when a provider refused. */
export interface Refusal {
  readonly at: Milliseconds;
  /** The provider's retry-after; 0 where it gave none. */
  readonly hintMs: Milliseconds;
  /** The limit in force. */
  readonly limit: number;
  /** Spent in the window, in its last sixth and in its last sixtieth, each with the delay spread. */
  readonly windowCount: number;
  readonly middleCount: number;
  readonly recentCount: number;
  /** Since they were last shifted, the cells had nothing to do for so long that they began at another phase. */
  readonly cellsBeganAnew?: boolean;
}

/** Where the knobs rest and which of them may move. */
export interface LearnerRest {
  readonly windowMs: Milliseconds;
  readonly delaySpreadMs: Milliseconds;
  readonly burst: number;
  /** What a person set for it, which is not exceeded; Infinity where nobody did. */
  readonly mostBurst: number;
  /** False for a declared shape: it is believed, and only its delay spread and its quota are learned. */
  readonly learnsShape: boolean;
  /** How many sizes a sixth may have, that is, in how many ways a provider may divide its limit. */
  readonly middleSizes: number;
  /**
   * How many sizes a cell may have. 0: sixtieths of the window are too short for the delay spread, or the amounts too large
   * for them.
   */
  readonly cellSizes: number;
  /** Cells are so long that spacing them costs next to nothing, and no phase has to be found. */
  readonly spacesCells: boolean;
}

/** The widest delay spread that is learned. */
export const MAX_SPREAD_MS: Milliseconds = 2_000;
const MIN_QUOTA_FACTOR = 0.5;
/** The window counts as full from here on. */
const EDGE_SHARE = 0.96;
const MAX_SPREAD_STEPS = 3;
const MAX_SHIFTS = 4;
const QUIET_WINDOWS = 5;
/** An hour, for a limit per minute. */
const FORGET_WINDOWS = 60;

/**
 * Moves the one knob that was tight when a provider refused, and moves it back when all is quiet: additive increase,
 * multiplicative decrease of that knob only, so that a wrong guess of the shape does not cost rate for ever
 * (measured in the README of this folder).
 */
export class Learner {
  private state: Knobs;
  private eventAt: Milliseconds = -Infinity;
  private spreadSteps = 0;
  private burstCap = Infinity;
  private quietWindows = 0;
  private reviewAt: Milliseconds;

  constructor(
    private rest: LearnerRest,
    now: Milliseconds,
  ) {
    this.state = this.resting;
    this.reviewAt = now + rest.windowMs;
  }

  get knobs(): Knobs {
    return this.state;
  }

  /** The knobs of a provider that never refuses. */
  get resting(): Knobs {
    const { delaySpreadMs, burst } = this.rest;
    return { delaySpreadMs, burst, quotaFactor: 1, middleGuard: 0, cells: { kind: 'off' } };
  }

  /** When `review` has something to look at. */
  get nextReview(): Milliseconds {
    return this.reviewAt;
  }

  /** A new limit: what was learned of burst and quota was about another one. */
  relimit(rest: Pick<LearnerRest, 'burst' | 'middleSizes' | 'cellSizes' | 'spacesCells'>): void {
    const cells = this.cellsUnder(rest, this.state.cells);
    this.rest = { ...this.rest, ...rest };
    this.burstCap = Infinity;
    this.state = {
      ...this.state,
      burst: rest.burst,
      quotaFactor: 1,
      middleGuard: Math.min(this.state.middleGuard, rest.middleSizes),
      cells,
    };
  }

  /** Sizes that the new limit has; and what was spaced because that cost nothing there is spaced no longer where it does. */
  private cellsUnder(
    { cellSizes, spacesCells }: Pick<LearnerRest, 'cellSizes' | 'spacesCells'>,
    cells: CellState,
  ): CellState {
    if (cells.kind === 'spaced' && this.rest.spacesCells && !spacesCells)
      return { kind: 'locked', shifts: 0, size: 0 };
    if (cells.kind !== 'locked') return cells;
    const size = Math.min(cells.size, Math.max(0, cellSizes - 1));
    return cells.size === size ? cells : { ...cells, size };
  }

  /** Continues with what an earlier process had learned, as far as what is configured now leaves it to be learned. */
  resume(knobs: Knobs): void {
    const { delaySpreadMs, mostBurst, learnsShape, middleSizes } = this.rest;
    this.state = {
      ...knobs,
      delaySpreadMs: Math.max(delaySpreadMs, Math.min(knobs.delaySpreadMs, MAX_SPREAD_MS)),
      burst: Math.min(knobs.burst, mostBurst),
      middleGuard: learnsShape ? Math.min(knobs.middleGuard, middleSizes) : 0,
      cells: this.usesCells ? this.cellsUnder(this.rest, knobs.cells) : { kind: 'off' },
    };
  }

  /** Returns whether this was an event of its own. */
  refused(refusal: Refusal): boolean {
    if (refusal.at - this.eventAt < ONE_EVENT_MS) return false;
    this.eventAt = refusal.at;
    this.quietWindows = 0;
    this.reviewAt = refusal.at + this.rest.windowMs;
    this.state = { ...this.state, ...this.tighten(refusal) };
    return true;
  }

  /**
   * A window has passed without a refusal.
   * @param wantsBurst the pacer held back what the window had room for
   */
  review(at: Milliseconds, limit: number, wantsBurst: boolean): void {
    this.reviewAt = at + this.rest.windowMs;
    this.quietWindows += 1;
    if (this.quietWindows >= FORGET_WINDOWS) this.forget();
    const { delaySpreadMs, quotaFactor } = this.state;
    const quiet = this.quietWindows % QUIET_WINDOWS === 0;
    this.state = {
      ...this.state,
      burst: this.relaxedBurst(limit, wantsBurst),
      quotaFactor: Math.min(1, quotaFactor + 0.01),
      delaySpreadMs: quiet ? Math.max(this.rest.delaySpreadMs, delaySpreadMs * 0.95) : delaySpreadMs,
    };
  }

  private tighten(refusal: Refusal): Partial<Knobs> {
    const { windowMs, learnsShape, middleSizes } = this.rest;
    const { middleGuard, quotaFactor } = this.state;
    const brief = refusal.hintMs <= Math.max(1_000, windowMs / CELL_PARTS);
    const middling = refusal.hintMs <= Math.max(10_000, windowMs / MIDDLE_PARTS);
    if (learnsShape && this.wasBurst(refusal)) return this.halveBurst();
    const over = middling && refusal.middleCount > refusal.limit / MIDDLE_PARTS;
    const middle = learnsShape && over && middleGuard < middleSizes;
    if (middle && !brief) return this.stricterMiddle;
    const learned = brief ? this.tightenBriefly(refusal, middle) : undefined;
    if (learned) return learned;
    return middle ? this.stricterMiddle : { quotaFactor: Math.max(MIN_QUOTA_FACTOR, quotaFactor * 0.95) };
  }

  /** It will be over within a second: the edge of some window, long, short or in the middle. */
  private tightenBriefly(
    { limit, windowCount, cellsBeganAnew = false }: Refusal,
    middle: boolean,
  ): Partial<Knobs> | undefined {
    const full = windowCount >= EDGE_SHARE * this.state.quotaFactor * limit;
    if (full && this.spreadSteps < this.spreadBudget()) return this.widenSpread();
    const cells = this.nextCells(cellsBeganAnew);
    // No phase was found for cells. Smaller or spaced ones cost much of the limit; longer ones do not.
    if (middle && cells && cells.kind !== 'given_up' && !goesOn(cells)) return this.stricterMiddle;
    return cells && { cells };
  }

  /** It counts in sixths of the window, so what was taken for sixtieths was none. */
  private get stricterMiddle(): Partial<Knobs> {
    const { cells, middleGuard } = this.state;
    return { middleGuard: middleGuard + 1, cells: cells.kind === 'given_up' ? cells : { kind: 'off' } };
  }

  private wasBurst({ limit, recentCount }: Refusal): boolean {
    const even = Math.max(1, limit / CELL_PARTS);
    return this.state.burst > 1 && recentCount >= Math.max(3 * even, this.state.burst / 2);
  }

  private halveBurst(): Partial<Knobs> {
    this.burstCap = Math.max(1, this.state.burst / 2);
    return { burst: this.burstCap };
  }

  /** A wider spread and cells look alike at the edge of a full window: one step of the one, then of the other. */
  private spreadBudget(): number {
    if (!this.usesCells) return MAX_SPREAD_STEPS;
    const { cells } = this.state;
    if (cells.kind === 'off') return 1;
    return cells.kind === 'locked' ? Math.min(MAX_SPREAD_STEPS, 1 + cells.shifts) : MAX_SPREAD_STEPS;
  }

  private widenSpread(): Partial<Knobs> {
    this.spreadSteps += 1;
    const most = Math.max(MAX_SPREAD_MS, this.rest.delaySpreadMs);
    return { delaySpreadMs: Math.min(most, this.state.delaySpreadMs * 1.6) };
  }

  private get usesCells(): boolean {
    return this.rest.learnsShape && this.rest.cellSizes > 0;
  }

  private nextCells(beganAnew: boolean): CellState | undefined {
    const { cells } = this.state;
    if (!this.usesCells) return undefined;
    if (cells.kind === 'given_up') return undefined;
    if (cells.kind === 'spaced') return { kind: 'given_up' };
    if (cells.kind === 'off')
      return this.rest.spacesCells ? { kind: 'spaced' } : { kind: 'locked', shifts: 0, size: 0 };
    const shifts = beganAnew ? 0 : cells.shifts;
    if (shifts < MAX_SHIFTS) return { ...cells, shifts: shifts + 1 };
    const size = cells.size + 1;
    return size < this.rest.cellSizes ? { kind: 'locked', shifts: 0, size } : { kind: 'spaced' };
  }

  private relaxedBurst(limit: number, wantsBurst: boolean): number {
    const { burst } = this.state;
    const most = Math.min(limit, this.burstCap, this.rest.mostBurst);
    const step = Math.max(1, burst / 10);
    if (wantsBurst) return Math.min(Math.max(most, 1), burst + step);
    return Math.max(Math.min(this.rest.burst, Math.max(most, 1)), burst - step);
  }

  /** After an hour of quiet a refuted guess may be made again, and what costs much of the limit is tried without. */
  private forget(): void {
    this.quietWindows = 0;
    this.spreadSteps = 0;
    this.burstCap = Infinity;
    const { middleGuard } = this.state;
    this.state = {
      ...this.state,
      middleGuard: middleGuard > 1 ? middleGuard - 1 : middleGuard,
      cells: this.cheaperCells,
    };
  }

  /** One refusal takes them back. */
  private get cheaperCells(): CellState {
    const { cells } = this.state;
    const { cellSizes, spacesCells } = this.rest;
    if (cells.kind === 'given_up') return { kind: 'off' };
    if (cells.kind === 'spaced' && !spacesCells)
      return { kind: 'locked', shifts: MAX_SHIFTS, size: Math.max(0, cellSizes - 1) };
    if (cells.kind === 'locked' && cells.size > 0)
      return { kind: 'locked', shifts: MAX_SHIFTS, size: cells.size - 1 };
    return cells;
  }
}

/** The search for a phase goes on, with cells as long as before. */
function goesOn(cells: CellState): boolean {
  return cells.kind === 'locked' && (cells.size === 0 || cells.shifts > 0);
}
