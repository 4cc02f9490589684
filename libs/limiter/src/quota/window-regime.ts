import type { Milliseconds } from '@weir/kernel';
import { burstOf, CELL_PARTS, countsRequests, isLong, MIDDLE_PARTS, mostBurstOf } from './defaults.js';
import type { DimensionSpec } from './dimension.js';
import type { Gate } from './gate.js';
import { describeKnobs, type CellState } from './knobs.js';
import { Learner, type LearnerRest } from './learner.js';
import { Pacer } from './pacer.js';
import { PhaseCells } from './phase-cells.js';
import type { Regime, RegimeState } from './regime.js';
import { quantumShare, sharesOf, type Share } from './share.js';
import type { SlotLog } from './slot-log.js';
import { WindowGuard } from './window-guard.js';

/** Cells this many times as long as the delay spread are spaced at once, for a fortieth of the rate at most. */
const SPACED_SPREADS = 40;

/** Window guard and pacer, and the windows within the window that were declared or learned: all shapes but buckets. */
export class WindowRegime implements Regime {
  readonly guard: WindowGuard;
  gates: readonly Gate[] = [];
  private readonly pacer: Pacer | undefined;
  private readonly learner: Learner;
  private cells: Gate | undefined;
  private cellState: CellState = { kind: 'off' };
  private limit: number;
  private latestDebit: Milliseconds;
  private wantsBurst = false;
  /** Until a window after a pause the pacer is tight because it was emptied, which says nothing about the burst. */
  private emptiedUntil: Milliseconds = -Infinity;

  constructor(
    private readonly spec: DimensionSpec,
    private readonly log: SlotLog,
    now: Milliseconds,
  ) {
    this.limit = spec.limit > 0 ? spec.limit : Infinity;
    this.latestDebit = now;
    this.learner = new Learner(learnerRest(spec, this.limit), now);
    this.guard = new WindowGuard(log, spec.windowMs + spec.delaySpreadMs, this.limit);
    if (!isLong(spec)) this.pacer = new Pacer(this.limit, spec.windowMs, this.learner.knobs.burst, now);
    this.apply(now);
  }

  /** Of a declared quantum its share; what was only learned is not believed that far. */
  get largest(): number {
    const { limit, spec } = this;
    if (spec.shape.kind !== 'quantum' || limit === Infinity) return Infinity;
    return quantumShare(limit, spec.windowMs, spec.shape.quantumMs).amount;
  }

  presumeSpent(at: Milliseconds): void {
    if (this.limit === Infinity) return;
    this.guard.fillEvenly(this.limit, at);
    this.apply(at);
    this.pacer?.empty(at);
  }

  setLimit(limit: number, at: Milliseconds): void {
    this.limit = limit;
    this.learner.relimit(learnerRest(this.spec, limit));
    if (this.cellState.kind === 'locked' || this.cellState.kind === 'spaced')
      this.setCells(this.cellState, at);
    this.apply(at);
  }

  debited(at: Milliseconds): void {
    this.latestDebit = at;
    if (!this.pacer || this.limit === Infinity) return;
    if (!this.wantsBurst && at >= this.emptiedUntil && this.pacer.isTight(at)) {
      this.wantsBurst = this.guard.room(at) > this.learner.knobs.burst;
    }
    if (at < this.learner.nextReview) return;
    const { burst } = this.pacer;
    this.learner.review(at, this.limit, this.wantsBurst);
    this.wantsBurst = false;
    this.apply(at);
    this.pacer.forgive(burst - this.pacer.burst, at);
  }

  /** A quota of a day teaches nothing but to wait, and what has no limit can be told nothing. */
  throttled(at: Milliseconds, hintMs: Milliseconds | undefined, until: Milliseconds): void {
    if (!this.pacer || this.limit === Infinity) return;
    const { windowMs } = this.spec;
    const event = this.learner.refused({
      at,
      hintMs: hintMs ?? 0,
      limit: this.limit,
      windowCount: this.guard.used(at),
      middleCount: this.spentIn(windowMs / MIDDLE_PARTS, at),
      recentCount: this.spentIn(windowMs / CELL_PARTS, at),
      cellsBeganAnew: this.cells instanceof PhaseCells && this.cells.beganAnew,
    });
    if (event) {
      const { burst } = this.pacer;
      this.apply(at);
      this.pacer.owe(this.pacer.burst - burst, at);
    }
    this.pacer.empty(until);
    this.emptiedUntil = until + windowMs;
    if (this.cells instanceof PhaseCells) this.cells.rest(until);
  }

  describe(): string {
    const { shape } = this.spec;
    const name = shape.kind === 'quantum' ? `quantum(${shape.quantumMs / 1000} s)` : shape.kind;
    const learned = describeKnobs(this.learner.knobs, this.learner.resting);
    return learned === '' ? name : `${name}: ${learned}`;
  }

  snapshot(at: Milliseconds): RegimeState {
    return { debtMs: this.pacer?.debtMs(at) ?? 0, learned: this.learner.knobs };
  }

  restore(state: RegimeState, at: Milliseconds): void {
    if (state.learned) this.learner.resume(state.learned);
    this.apply(at);
    this.guard.recount(this.log.slotAt(at));
    this.pacer?.resume(state.debtMs, at);
  }

  /** Brings the gates to what the learner knows. */
  private apply(at: Milliseconds): void {
    const { spec, limit } = this;
    const { knobs } = this.learner;
    const quota = limit * knobs.quotaFactor;
    this.guard.setWindow(spec.windowMs + knobs.delaySpreadMs);
    this.guard.setLimit(quota, limit);
    if (knobs.cells !== this.cellState) this.setCells(knobs.cells, at);
    this.pacer?.setRate(quota, spec.windowMs, Math.max(knobs.burst, this.cellBurst), at);
    const within = limit === Infinity ? [] : this.windowsWithin();
    this.gates = [this.guard, this.pacer, ...within].filter((gate) => gate !== undefined);
  }

  private windowsWithin(): (Gate | undefined)[] {
    const { limit } = this;
    const { windowMs, delaySpreadMs, shape } = this.spec;
    const { knobs } = this.learner;
    const quantum = shape.kind === 'quantum' ? quantumShare(limit, windowMs, shape.quantumMs) : undefined;
    const middle = sharesOf(limit, windowMs, MIDDLE_PARTS)[knobs.middleGuard - 1];
    return [
      quantum && this.spacing(quantum, knobs.delaySpreadMs),
      middle && this.spacing(middle, delaySpreadMs),
      // Last: it alone may close again, so it has to be asked for the time that the others allow.
      this.cells,
    ];
  }

  private setCells(next: CellState, at: Milliseconds): void {
    const share = this.cellShare(next);
    const shifting = next !== this.cellState && isShift(this.cellState, next);
    this.cellState = next;
    if (next.kind === 'off' || next.kind === 'given_up') this.cells = undefined;
    else if (next.kind === 'spaced') this.cells = this.spacing(share, this.spec.delaySpreadMs);
    else if (shifting && this.cells instanceof PhaseCells) this.cells = this.cells.shifted(at);
    else this.cells = new PhaseCells(share, this.latestDebit + share.perMs / 2, at, mostBurstOf(this.spec));
  }

  /** What a pacer has to let through for cells to be filled; those whose phase is locked let nothing through together. */
  private get cellBurst(): number {
    const { kind } = this.cellState;
    if (kind !== 'locked' && kind !== 'spaced') return 0;
    const burst = 2 * this.cellShare(this.cellState).amount;
    return kind === 'locked' ? burst : Math.min(burst, mostBurstOf(this.spec));
  }

  private cellShare(cells: CellState): Share {
    const shares = sharesOf(this.limit, this.spec.windowMs, CELL_PARTS);
    const size = cells.kind === 'locked' ? cells.size : shares.length - 1;
    return shares[size] ?? shares[0];
  }

  private spacing({ amount, perMs }: Share, delaySpreadMs: Milliseconds): WindowGuard {
    return new WindowGuard(this.log, perMs + delaySpreadMs, amount);
  }

  private spentIn(ms: Milliseconds, at: Milliseconds): number {
    const from = at - ms - this.learner.knobs.delaySpreadMs;
    return this.log.sum(this.log.slotAt(from), this.log.slotAt(at));
  }
}

function isShift(from: CellState, to: CellState): boolean {
  return from.kind === 'locked' && to.kind === 'locked' && from.size === to.size;
}

function learnerRest(spec: DimensionSpec, limit: number): LearnerRest {
  const shares = sharesOf(limit, spec.windowMs, CELL_PARTS);
  return {
    windowMs: spec.windowMs,
    delaySpreadMs: spec.delaySpreadMs,
    burst: burstOf(spec, limit),
    mostBurst: mostBurstOf(spec),
    learnsShape: spec.shape.kind === 'unknown',
    middleSizes: sharesOf(limit, spec.windowMs, MIDDLE_PARTS).length,
    // Cells work while the delay spread is under a third of them: beyond it the phase of a cell is lost in the noise.
    cellSizes:
      countsRequests(spec) && spec.delaySpreadMs <= spec.windowMs / CELL_PARTS / 3 ? shares.length : 0,
    spacesCells: shares[0].perMs >= SPACED_SPREADS * spec.delaySpreadMs,
  };
}
