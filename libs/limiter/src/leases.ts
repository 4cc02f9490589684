import type { Milliseconds } from '@weir/kernel';
import type { Vector } from './ledger/ledger.js';

/** Leases that begin within this part of a lease's length end together. */
const GRAIN = 1 / 32;

/** Whose permits hold slots. */
export interface Leaseholder {
  readonly vector: Vector;
  /** The newest, which permits of now share. */
  lease: Lease | undefined;
}

/** Slots of one holder that were taken at about the same time. */
export interface Lease {
  readonly holder: Leaseholder;
  readonly startedAt: Milliseconds;
  /** Permits that hold it. */
  open: number;
  /** It ran out: its slots are free, and the endings of its permits free nothing more. */
  over: boolean;
}

/**
 * Slots are held, so a permit that nobody ends would take its slot for ever. A slot is therefore a lease: after longer
 * than any call may last it comes back, and the permit counts as leaked. What the permit spent of rates stays spent,
 * because it may have been sent. No permit is kept alive for that, so one that is forgotten costs no memory.
 */
export class Leases {
  /** Permits whose slots were taken back. */
  leaked = 0;
  private readonly leases: Lease[] = [];

  /** @param leaseMs longer than the longest call */
  constructor(private readonly leaseMs: Milliseconds) {}

  /** A permit of a holder is granted. */
  open(holder: Leaseholder, now: Milliseconds): Lease {
    let { lease } = holder;
    if (lease === undefined || now > lease.startedAt + this.leaseMs * GRAIN) {
      lease = { holder, startedAt: now, open: 0, over: false };
      holder.lease = lease;
      this.leases.push(lease);
    }
    lease.open += 1;
    return lease;
  }

  /** When the oldest lease that is held runs out. Infinity without one. */
  nextExpiry(): Milliseconds {
    const oldest = this.oldest();
    return oldest ? this.expiryOf(oldest) : Infinity;
  }

  /** Takes back what has run out. */
  reap(now: Milliseconds): void {
    for (let lease = this.oldest(); lease && this.expiryOf(lease) <= now; lease = this.oldest()) {
      lease.over = true;
      this.leaked += lease.open;
      for (const dimension of lease.holder.vector) {
        if (dimension.spec.unit === 'slots') dimension.correct(0, -lease.open, now);
      }
      lease.open = 0;
    }
  }

  /** The oldest that is held. Those before it are forgotten: only the newest of a holder may be taken again. */
  private oldest(): Lease | undefined {
    const first = this.leases.at(0);
    if (first === undefined || first.open > 0) return first;
    const held = this.leases.findIndex(({ open }) => open > 0);
    const gone = held < 0 ? this.leases.length : held;
    for (const lease of this.leases.splice(0, gone)) {
      if (lease.holder.lease === lease) lease.holder.lease = undefined;
    }
    return this.leases.at(0);
  }

  private expiryOf(lease: Lease): Milliseconds {
    return lease.startedAt + this.leaseMs * (1 + GRAIN);
  }
}
