import type { Milliseconds } from '@weir/kernel';
import { FixedWindow } from './fixed-window.js';
import type { Charge, QuotaWindow } from './window.js';

/**
 * N per window, enforced as floor(N x q / W) per quantum q. Where that is nothing, the quantum is lengthened to
 * the fewest quanta that hold one, so that 30 a minute in quanta of 1 s means 1 in every 2 s.
 */
export class QuantumWindow implements QuotaWindow {
  private cells: FixedWindow;

  constructor(
    limit: number,
    private readonly windowMs: Milliseconds,
    private readonly quantumMs: Milliseconds,
  ) {
    this.cells = this.divide(limit);
  }

  waitMs(cost: number, now: Milliseconds): Milliseconds {
    return this.cells.waitMs(cost, now);
  }

  take(cost: number, now: Milliseconds): Charge {
    return this.cells.take(cost, now);
  }

  penalise(cost: number, now: Milliseconds): void {
    this.cells.penalise(cost, now);
  }

  room(now: Milliseconds): number {
    return this.cells.room(now);
  }

  resetMs(now: Milliseconds): Milliseconds {
    return this.cells.resetMs(now);
  }

  /** Starts a new quantum: the old ones may have had another length. */
  retune(limit: number): void {
    this.cells = this.divide(limit);
  }

  private divide(limit: number): FixedWindow {
    const quanta = limit > 0 ? Math.max(1, Math.ceil(this.windowMs / (limit * this.quantumMs))) : 1;
    const cellMs = quanta * this.quantumMs;
    return new FixedWindow(Math.floor((limit * cellMs) / this.windowMs + ROUNDING), cellMs);
  }
}

/** Keeps 60 x 1000 / 60000 from becoming 0.999... */
const ROUNDING = 1e-9;
