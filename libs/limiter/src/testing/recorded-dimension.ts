import type { Milliseconds } from '@weir/kernel';
import type { DimensionMaker } from '../ledger/memory-ledger.js';
import { createDimension } from '../quota/create-dimension.js';
import type { Dimension, DimensionSpec } from '../quota/dimension.js';

/** One change of one dimension. */
export interface Change {
  readonly dimension: string;
  readonly kind: 'debit' | 'correct' | 'pause' | 'throttled';
  readonly amount: number;
  readonly at: Milliseconds;
}

/** A dimension that writes down whatever changes it. */
class RecordedDimension implements Dimension {
  constructor(
    private readonly inner: Dimension,
    private readonly write: (change: Omit<Change, 'dimension'>) => void,
  ) {}

  get spec(): DimensionSpec {
    return this.inner.spec;
  }

  get limit(): number {
    return this.inner.limit;
  }

  get largest(): number {
    return this.inner.largest;
  }

  get pausedUntil(): Milliseconds {
    return this.inner.pausedUntil;
  }

  fits(amount: number, now: Milliseconds): boolean {
    return this.inner.fits(amount, now);
  }

  earliest(amount: number, now: Milliseconds): Milliseconds {
    return this.inner.earliest(amount, now);
  }

  earliestAfter(first: number, amount: number, now: Milliseconds): Milliseconds {
    return this.inner.earliestAfter(first, amount, now);
  }

  debit(amount: number, now: Milliseconds): number {
    this.write({ kind: 'debit', amount, at: now });
    return this.inner.debit(amount, now);
  }

  correct(slot: number, delta: number, now: Milliseconds): void {
    this.write({ kind: 'correct', amount: delta, at: now });
    this.inner.correct(slot, delta, now);
  }

  postpone(slot: number, amount: number, now: Milliseconds): number {
    return this.inner.postpone(slot, amount, now);
  }

  pause(until: Milliseconds): void {
    this.write({ kind: 'pause', amount: 0, at: until });
    this.inner.pause(until);
  }

  throttled(now: Milliseconds, hintMs: Milliseconds | undefined): void {
    this.write({ kind: 'throttled', amount: hintMs ?? 0, at: now });
    this.inner.throttled(now, hintMs);
  }

  setLimit(limit: number, now: Milliseconds): void {
    this.inner.setLimit(limit, now);
  }

  room(now: Milliseconds): number {
    return this.inner.room(now);
  }

  spare(now: Milliseconds): number {
    return this.inner.spare(now);
  }

  spareAt(amount: number, now: Milliseconds): Milliseconds {
    return this.inner.spareAt(amount, now);
  }

  used(now: Milliseconds): number {
    return this.inner.used(now);
  }

  describe(): string {
    return this.inner.describe();
  }
}

/** Makes empty dimensions whose changes are all written into one journal. */
export class Recorder {
  readonly changes: Change[] = [];

  readonly make: DimensionMaker = (spec, now) =>
    new RecordedDimension(createDimension(spec, now, { presumeSpent: false }), (change) => {
      this.changes.push({ dimension: spec.id, ...change });
    });

  /** Sum of what was debited, and of what was corrected, of a dimension. */
  sum(dimension: string, ...kinds: readonly Change['kind'][]): number {
    return this.changes
      .filter((change) => change.dimension === dimension && kinds.includes(change.kind))
      .reduce((total, { amount }) => total + amount, 0);
  }
}
