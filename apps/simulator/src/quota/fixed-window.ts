import type { Milliseconds } from '@weir/kernel';
import type { Charge, QuotaWindow } from './window.js';

/**
 * A counter that starts again at every multiple of `windowMs` after `phaseMs`.
 * Twice the limit may pass around such an edge: that is what these providers do.
 */
export class FixedWindow implements QuotaWindow {
  private cell = -Infinity;
  private used = 0;

  constructor(
    private limit: number,
    private readonly windowMs: Milliseconds,
    private readonly phaseMs: Milliseconds = 0,
  ) {}

  waitMs(cost: number, now: Milliseconds): Milliseconds {
    if (cost > this.limit) return Infinity;
    this.turn(now);
    return this.used + cost <= this.limit ? 0 : this.cellEnd() - now;
  }

  take(cost: number, now: Milliseconds): Charge {
    this.turn(now);
    const cell = this.cell;
    let charged = cost;
    this.used += cost;
    return {
      amend: (amended, at) => {
        this.turn(at);
        if (this.cell !== cell) return;
        this.used += amended - charged;
        charged = amended;
      },
    };
  }

  penalise(cost: number, now: Milliseconds): void {
    this.take(cost, now);
  }

  room(now: Milliseconds): number {
    this.turn(now);
    return this.limit > 0 ? Math.max(0, 1 - this.used / this.limit) : 0;
  }

  resetMs(now: Milliseconds): Milliseconds {
    this.turn(now);
    return this.used > 0 ? this.cellEnd() - now : 0;
  }

  retune(limit: number): void {
    this.limit = limit;
  }

  private turn(now: Milliseconds): void {
    const cell = Math.floor((now - this.phaseMs) / this.windowMs);
    if (cell === this.cell) return;
    this.cell = cell;
    this.used = 0;
  }

  private cellEnd(): Milliseconds {
    return (this.cell + 1) * this.windowMs + this.phaseMs;
  }
}
