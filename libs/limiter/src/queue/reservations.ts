import type { Milliseconds } from '@weir/kernel';
import { amountOf, blockOf, type Block, type Vector } from '../ledger/ledger.js';
import type { Dimension } from '../quota/dimension.js';
import type { FlowTicket } from './flow.js';

/** Two computations of one instant differ by less. */
const SAME_INSTANT_MS: Milliseconds = 1e-3;

/** A cost on its way: a ticket, or somebody who only asks. */
export type Wanted = Pick<FlowTicket, 'flow' | 'cost'>;

interface Reservation {
  readonly ticket: FlowTicket;
  eta: Milliseconds;
  /** Somebody was held back for it. */
  holdsBack: boolean;
  /** Order of claims. Nobody makes an earlier owner wait, so no two of them wait for each other. */
  readonly rank: number;
  /** Its ticket waited for its team's limit before this one: what the team has for it is not taken from it again. */
  readonly keepsOfTeam: boolean;
}

/**
 * EASY backfill: the first in order that a dimension blocks owns that dimension's next room, at its *eta*. Whoever
 * uses the dimension may go before only if the eta does not move. So small ones fill the gap before a large one,
 * and the large one is not starved; a dimension that it does not wait for is nobody's.
 */
export class Reservations {
  private readonly byDimension = new Map<Dimension, Reservation>();
  private claims = 0;
  /** A reservation that somebody was held back for is gone, or is for later. */
  private freed = false;

  /**
   * A ticket, next in order, is blocked. It keeps or takes the reservation, unless one that claimed before has it.
   * @returns whether the ticket owns it
   */
  claim(ticket: FlowTicket, { dimension, at }: Block): boolean {
    const own = this.byDimension.get(dimension);
    if (own?.ticket === ticket) {
      this.freed ||= own.holdsBack && at > own.eta;
      own.eta = at;
      return true;
    }
    const before = this.release(ticket);
    const rank = before?.rank ?? this.claims++;
    const other = this.byDimension.get(dimension);
    if (other && other.rank < rank) return false;
    if (other) this.displace(other.ticket);
    this.byDimension.set(dimension, {
      ticket,
      eta: at,
      rank,
      holdsBack: false,
      keepsOfTeam: before?.keepsOfTeam === true,
    });
    ticket.flow.pinned = ticket;
    ticket.flow.rank = rank;
    return true;
  }

  /** A ticket was granted, or gave up. Returns what its next reservation inherits. */
  release(ticket: FlowTicket): Pick<Reservation, 'rank' | 'keepsOfTeam'> | undefined {
    if (ticket.flow.pinned !== ticket) return undefined;
    ticket.flow.pinned = undefined;
    for (const [dimension, owned] of this.byDimension) {
      if (owned.ticket !== ticket) continue;
      this.byDimension.delete(dimension);
      this.freed ||= owned.holdsBack;
      return { rank: owned.rank, keepsOfTeam: owned.keepsOfTeam || isOfTeam(dimension) };
    }
    return undefined;
  }

  /** Whether granting this now would move the eta of somebody who claimed before it. */
  delayedBy(ticket: Wanted, now: Milliseconds): boolean {
    if (this.byDimension.size === 0) return false;
    const rank = ticket.flow.pinned === ticket ? ticket.flow.rank : Infinity;
    for (const dimension of ticket.flow.vector) {
      const owned = this.byDimension.get(dimension);
      if (owned && owned.rank < rank && moves(owned, ticket, now)) {
        owned.holdsBack = true;
        return true;
      }
    }
    return this.delayedByTeam(ticket, rank, now);
  }

  /**
   * More was used of these. An owner keeps no room of those that it does not wait for, and answers may cost more than they
   * reserved; so its eta may have moved, and whoever was held back for it may go.
   */
  used(vector: Vector, now: Milliseconds): void {
    for (const { ticket, eta, holdsBack } of this.byDimension.values()) {
      if (!holdsBack || !ticket.flow.vector.some((dimension) => vector.includes(dimension))) continue;
      this.freed ||= (blockOf(ticket.flow.vector, ticket.cost, now)?.at ?? now) > eta + SAME_INSTANT_MS;
    }
  }

  /** Whether somebody who was held back may go, since that was last taken. */
  get hasFreed(): boolean {
    return this.freed;
  }

  /** The same, and forgets it. */
  takeFreed(): boolean {
    const { freed } = this;
    this.freed = false;
    return freed;
  }

  /**
   * A team's limit is in more than one model, and others of the team do not use what the owner waits for. They leave it
   * its room of the team's: it would wait for the one and then for the other, and for ever.
   */
  private delayedByTeam(wanted: Wanted, rank: number, now: Milliseconds): boolean {
    if (!wanted.flow.vector.some(isOfTeam)) return false;
    for (const [dimension, owned] of this.byDimension) {
      if (owned.rank >= rank || owned.ticket.flow.team.id !== wanted.flow.team.id) continue;
      if (wanted.flow.vector.includes(dimension) || !moves(owned, wanted, now, isOfTeam)) continue;
      owned.holdsBack = true;
      return true;
    }
    return false;
  }

  private displace({ flow }: FlowTicket): void {
    flow.pinned = undefined;
    flow.reorder();
  }
}

/** @param among which of the dimensions count. Left out: all */
function moves(
  { ticket, eta, keepsOfTeam }: Reservation,
  other: Wanted,
  now: Milliseconds,
  among?: (dimension: Dimension) => boolean,
): boolean {
  return ticket.flow.vector.some((dimension) => {
    if (!other.flow.vector.includes(dimension) || among?.(dimension) === false) return false;
    const { unit } = dimension.spec;
    const amount = amountOf(unit, ticket.cost);
    // Nobody knows when a slot comes back.
    const expected =
      eta === Infinity && keepsOfTeam && isOfTeam(dimension) ? dimension.earliest(amount, now) : eta;
    const bound = Math.max(expected, now) + SAME_INSTANT_MS;
    return dimension.earliestAfter(amountOf(unit, other.cost), amount, now) > bound;
  });
}

function isOfTeam({ spec }: Dimension): boolean {
  return spec.scope === 'team';
}
