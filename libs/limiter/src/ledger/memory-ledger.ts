import type { Milliseconds, Target } from '@weir/kernel';
import type { Cost } from '../limiter.js';
import type { Dimension, DimensionSpec } from '../quota/dimension.js';
import { amountOf, correctionOf, type Charge, type Entry, type Ledger, type Vector } from './ledger.js';

/** Makes the arithmetic of one dimension. */
export type DimensionMaker = (spec: DimensionSpec, now: Milliseconds) => Dimension;

/** The ledger of one process. */
export class MemoryLedger implements Ledger {
  private readonly byId = new Map<string, Dimension>();

  constructor(
    specs: readonly DimensionSpec[],
    private readonly make: DimensionMaker,
    private readonly now: () => Milliseconds,
  ) {
    for (const spec of specs) this.add(spec);
  }

  get dimensions(): Iterable<Dimension> {
    return this.byId.values();
  }

  dimension(id: string): Dimension | undefined {
    return this.byId.get(id);
  }

  vector(target: Target, team: string): Vector {
    const vector = [...this.byId.values()].filter(({ spec }) => covers(spec, target, team));
    if (vector.some(({ spec }) => spec.scope === 'model' && spec.unit === 'requests')) return vector;
    return [...vector, this.add(unlimitedRequests(target))];
  }

  admit(vector: Vector, cost: Cost, now: Milliseconds): Entry | undefined {
    // The amounts first, and where each fits, the slots that they went into.
    const slots = new Array<number>(vector.length);
    let index = 0;
    for (const dimension of vector) {
      const amount = amountOf(dimension.spec.unit, cost);
      if (!dimension.fits(amount, now)) return undefined;
      slots[index] = amount;
      index += 1;
    }
    index = 0;
    for (const dimension of vector) {
      slots[index] = dimension.debit(slots[index] ?? 0, now);
      index += 1;
    }
    return { vector, cost, slots };
  }

  postpone({ vector, cost, slots }: Entry, now: Milliseconds): void {
    vector.forEach((dimension, index) => {
      slots[index] = dimension.postpone(slots[index] ?? 0, amountOf(dimension.spec.unit, cost), now);
    });
  }

  settle(entry: Entry, charge: Charge, now: Milliseconds): void {
    entry.vector.forEach((dimension, index) => {
      const delta = correctionOf(dimension.spec.unit, entry.cost, charge);
      if (delta !== 0) dimension.correct(entry.slots[index] ?? 0, delta, now);
    });
  }

  private add(spec: DimensionSpec): Dimension {
    const dimension = this.make(spec, this.now());
    this.byId.set(spec.id, dimension);
    return dimension;
  }
}

function covers(spec: DimensionSpec, target: Target, team: string): boolean {
  switch (spec.scope) {
    case 'account':
      return spec.account === target.account;
    case 'model':
      return spec.account === target.account && spec.model === target.model;
    case 'team':
      return spec.team === team;
  }
}

function unlimitedRequests({ account, model }: Target): DimensionSpec {
  return {
    id: `model:${account}/${model}:requests`,
    scope: 'model',
    account,
    model,
    unit: 'requests',
    limit: Infinity,
    windowMs: 60_000,
    shape: { kind: 'unknown' },
    delaySpreadMs: 0,
  };
}
