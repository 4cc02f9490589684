import type { Milliseconds } from '@weir/kernel';
import { amountOf, type Block } from '../ledger/ledger.js';
import type { Dimension } from '../quota/dimension.js';
import type { Ticket } from './ticket.js';

/** Two computations of one instant differ by less. */
const SAME_INSTANT_MS: Milliseconds = 1e-3;

interface Reservation {
  readonly ticket: Ticket;
  readonly eta: Milliseconds;
}

/**
 * EASY backfill: the first in order that a dimension blocks owns that dimension's next room, at its *eta*. Whoever
 * uses the dimension may go before only if the eta does not move. So small ones fill the gap before a large one,
 * and the large one is not starved; a dimension that it does not wait for is nobody's.
 */
export class Reservations {
  private readonly byDimension = new Map<Dimension, Reservation>();

  /**
   * A ticket, next in order, is blocked. It keeps or takes the reservation, unless an earlier one has it.
   * @returns whether the ticket owns it
   */
  claim(ticket: Ticket, block: Block): boolean {
    const owner = this.byDimension.get(block.dimension)?.ticket;
    this.release(ticket);
    if (owner !== undefined && owner !== ticket && owner.waiting) return false;
    this.byDimension.set(block.dimension, { ticket, eta: block.at });
    ticket.flow.pinned = ticket;
    return true;
  }

  /** A ticket was granted, or gave up. */
  release(ticket: Ticket): void {
    if (ticket.flow.pinned === ticket) ticket.flow.pinned = undefined;
    for (const [dimension, owned] of this.byDimension) {
      if (owned.ticket === ticket) this.byDimension.delete(dimension);
    }
  }

  /** Whether granting this ticket now would move somebody's eta. */
  delayedBy(ticket: Ticket, now: Milliseconds): boolean {
    if (this.byDimension.size === 0) return false;
    for (const dimension of ticket.flow.vector) {
      const owned = this.byDimension.get(dimension);
      if (owned && owned.ticket !== ticket && owned.ticket.waiting && moves(owned, ticket, now)) return true;
    }
    return false;
  }
}

function moves({ ticket, eta }: Reservation, other: Ticket, now: Milliseconds): boolean {
  const bound = Math.max(eta, now) + SAME_INSTANT_MS;
  return ticket.flow.vector.some((dimension) => {
    if (!other.flow.vector.includes(dimension)) return false;
    const { unit } = dimension.spec;
    return dimension.earliestAfter(amountOf(unit, other.cost), amountOf(unit, ticket.cost), now) > bound;
  });
}
