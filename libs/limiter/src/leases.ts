import type { Milliseconds } from '@weir/kernel';
import type { Vector } from './ledger/ledger.js';
import type { PacedPermit } from './permit.js';

/**
 * Slots are held, so a permit that nobody ends would take its slot for ever. A slot is therefore a lease: a permit
 * that is open for longer than any call may last is ended at its reservation and counted as leaked. What it spent of
 * rates stays spent: it may have been sent.
 */
export class Leases {
  /** Permits that were never ended. */
  leaked = 0;
  /** Open permits that hold a slot, oldest first. */
  private readonly holders = new Set<PacedPermit>();

  /** @param leaseMs longer than the longest call */
  constructor(private readonly leaseMs: Milliseconds) {}

  opened(permit: PacedPermit, vector: Vector): void {
    for (const { spec } of vector) {
      if (spec.unit !== 'slots') continue;
      this.holders.add(permit);
      return;
    }
  }

  closed(permit: PacedPermit): void {
    this.holders.delete(permit);
  }

  /** When the oldest lease runs out. Infinity without one. */
  nextExpiry(): Milliseconds {
    for (const oldest of this.holders) return oldest.grantedAt + this.leaseMs;
    return Infinity;
  }

  /** Ends what has run out. */
  reap(now: Milliseconds): void {
    for (const permit of this.holders) {
      if (permit.grantedAt + this.leaseMs > now) return;
      this.leaked += 1;
      permit.settle({ inputTokens: undefined, outputTokens: undefined });
    }
  }
}
