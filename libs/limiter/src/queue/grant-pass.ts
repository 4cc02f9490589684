import type { Milliseconds } from '@weir/kernel';
import {
  blockOf,
  correctionOf,
  countsRequests,
  type Block,
  type Charge,
  type Entry,
} from '../ledger/ledger.js';
import type { Dimension, DimensionSpec } from '../quota/dimension.js';
import type { Awaited } from './awaited.js';
import { lentTo, yieldsUntil } from './entitlements.js';
import type { FairQueue } from './fair-queue.js';
import type { Flow, FlowTicket } from './flow.js';
import type { Reservations, Wanted } from './reservations.js';
import type { When } from './size-tree.js';

/**
 * One look through an account's order: everything is granted that fits, in order, and that moves no reservation.
 * What every request takes alike (requests, slots) ends the look for all who share it, so a look at a full account
 * costs the same whoever waits; what is counted in tokens lets smaller ones be tried.
 */
export class GrantPass {
  /** Somebody was held back for the sake of a model that waits. */
  lends = false;
  /** After somebody was held back so, somebody else went or was stopped: what is lent now is another matter. */
  private anew = false;

  constructor(
    private readonly reservations: Reservations,
    private readonly awaited: Awaited,
  ) {}

  /**
   * Over all accounts, because a team's limit is in more than one of them.
   * @returns when another look may be worth while, if only time passes
   */
  run(queues: ReadonlyMap<string, FairQueue>, now: Milliseconds): Milliseconds {
    let next: Milliseconds;
    // What an owner does not want any more may be for somebody who was looked at before it, in whatever queue.
    do {
      this.awaited.clear();
      this.lends = false;
      next = Infinity;
      for (const queue of queues.values())
        if (queue.waiting > 0) next = Math.min(next, this.runThrough(queue, now));
    } while (this.takeAnew());
    return next;
  }

  /**
   * A newcomer, where everything else has just been looked at.
   * @returns when another look may be worth while: at once where it goes, or claims, before others
   */
  offerNewcomer(ticket: FlowTicket, queue: FairQueue, now: Milliseconds): Milliseconds {
    const next = this.offerLast(ticket, queue, now);
    return this.takeAnew() ? now : next;
  }

  /**
   * Whether a look is worth while after an ending: it gave back what somebody waits for, or it cost more than it reserved,
   * which changes for how long others are held back.
   */
  isHelpedBy({ vector, cost }: Entry, charge: Charge, now: Milliseconds): boolean {
    const correction = ({ spec: { unit } }: Dimension): number => correctionOf(unit, cost, charge);
    if (vector.some((each) => correction(each) > 0)) {
      this.reservations.used(vector, now);
      if (this.lends || this.reservations.hasFreed) return true;
    }
    return vector.some((each) => correction(each) < 0 && this.awaited.has(each));
  }

  private offerLast(ticket: FlowTicket, queue: FairQueue, now: Milliseconds): Milliseconds {
    const { flow } = ticket;
    const isFirst = flow.next() === ticket;
    if (!isFirst && flow.waitsForShare) return Infinity;
    const block = blockOf(flow.vector, ticket.cost, now);
    if (!block) {
      if (isFirst) flow.stopped = false;
      const until = this.heldUntil(ticket, queue, now);
      if (until === undefined) this.grant(ticket, now);
      if (isFirst) flow.waitsForShare = isLent(until);
      return until ?? Infinity;
    }
    this.awaited.add(block.dimension);
    if (!isFirst) return this.delays(ticket, now) ? Infinity : block.at;
    const next = this.hold(ticket, block, queue, now);
    flow.reorder();
    return next;
  }

  private runThrough(queue: FairQueue, now: Milliseconds): Milliseconds {
    let next = Infinity;
    for (let flow = queue.take(); flow !== undefined; flow = queue.take()) {
      next = Math.min(next, this.offer(flow, queue, now));
    }
    queue.rewind();
    return next;
  }

  private offer(flow: Flow, queue: FairQueue, now: Milliseconds): Milliseconds {
    const ticket = flow.next();
    if (ticket === undefined) return Infinity;
    const until = this.heldUntil(ticket, queue, now);
    flow.waitsForShare = isLent(until);
    if (until === undefined && this.grant(ticket, now)) {
      flow.stopped = false;
      flow.putBack();
      return Infinity;
    }
    queue.setAside(flow);
    const block = blockOf(flow.vector, ticket.cost, now);
    if (!block) {
      flow.stopped = false;
      // It waits for somebody else's sake: what it had reserved is nobody's.
      this.reservations.release(ticket);
      return Math.min(until ?? Infinity, this.goBefore(ticket, queue, now));
    }
    this.awaited.add(block.dimension);
    const next = this.hold(ticket, block, queue, now);
    if (countsRequests(block.dimension.spec.unit)) {
      closeBehind(flow, queue, block);
      return block.at;
    }
    return Math.min(next, this.goBefore(ticket, queue, now));
  }

  /**
   * Who may go before a head that has to wait. Nobody where it waits until its flow is below its fair share: whatever of
   * the flow went before would keep it waiting.
   */
  private goBefore(head: FlowTicket, queue: FairQueue, now: Milliseconds): Milliseconds {
    return head.flow.waitsForShare ? Infinity : this.fillGap(head, queue, now);
  }

  /** A blocked ticket claims the next room, where it is first in line for it. */
  private hold(ticket: FlowTicket, block: Block, queue: FairQueue, now: Milliseconds): Milliseconds {
    const { flow } = ticket;
    const { id, scope } = block.dimension.spec;
    ticket.boundBy = id;
    this.stop(flow, scope);
    const yielding = scope === 'account' ? this.yieldingUntil(ticket, block, queue, now) : undefined;
    flow.waitsForShare = yielding !== undefined;
    this.lends ||= flow.waitsForShare;
    const owner = !flow.waitsForShare && this.reservations.claim(ticket, block);
    if (owner && scope !== 'team') queue.begin(ticket, scope);
    const next = owner || !this.delays(ticket, now) ? block.at : Infinity;
    return yielding === undefined ? next : Math.min(yielding, next);
  }

  private stop(flow: Flow, scope: DimensionSpec['scope']): void {
    const byTeam = scope === 'team';
    if (scope === 'model') flow.model.parked = true;
    if (byTeam) flow.held = true;
    this.anew ||= this.lends && byTeam && !flow.stopped;
    flow.stopped = byTeam;
  }

  /** Behind a blocked head, the smallest ones of its flow may fit. */
  private fillGap(head: FlowTicket, queue: FairQueue, now: Milliseconds): Milliseconds {
    const { flow } = head;
    if (flow.hasManySizes) return this.fillGaps(head, queue, now);
    for (let small = flow.smallest(); small !== undefined && small !== head; small = flow.smallest()) {
      const block = blockOf(flow.vector, small.cost, now);
      if (block) {
        this.awaited.add(block.dimension);
        return this.delays(small, now) ? Infinity : block.at;
      }
      const until = this.heldUntil(small, queue, now);
      if (until !== undefined || !this.grant(small, now)) return until ?? Infinity;
    }
    return Infinity;
  }

  /** The same where input and output are limited apart, and the smallest in one way may be the largest in the other. */
  private fillGaps(head: FlowTicket, queue: FairQueue, now: Milliseconds): Milliseconds {
    const { flow } = head;
    const when: When<FlowTicket> = (cost, ticket) => {
      if (ticket === head) return Infinity;
      const wanted = ticket ?? { flow, cost };
      const block = blockOf(flow.vector, cost, now);
      if (!block) return this.heldUntil(wanted, queue, now);
      this.awaited.add(block.dimension);
      return this.delays(wanted, now) ? Infinity : block.at;
    };
    for (;;) {
      const { ticket, at } = flow.find(when);
      if (ticket === undefined || !this.grant(ticket, now)) return at;
    }
  }

  /** Until when a ticket that may fit is held back for another's sake; undefined where it is not. */
  private heldUntil(
    wanted: FlowTicket | Wanted,
    queue: FairQueue,
    now: Milliseconds,
  ): Milliseconds | undefined {
    if (this.delays(wanted, now)) return Infinity;
    // Who was promised a time is kept to no other rule.
    const lent = wanted.flow.pinned === wanted ? undefined : lentTo(wanted, queue, now);
    if (!lent) return undefined;
    this.lends = true;
    if ('boundBy' in wanted) wanted.boundBy = lent.dimension.spec.id;
    this.awaited.add(lent.dimension);
    return lent.at;
  }

  /** Who has had its share makes no claim to room that others are entitled to, unless it made it before. */
  private yieldingUntil(
    ticket: FlowTicket,
    block: Block,
    queue: FairQueue,
    now: Milliseconds,
  ): Milliseconds | undefined {
    return ticket.flow.pinned === ticket ? undefined : yieldsUntil(ticket.flow, block, queue, now);
  }

  /** Whether somebody who was held back may go, since this was asked last. */
  private takeAnew(): boolean {
    const anew = this.reservations.takeFreed() || this.anew;
    this.anew = false;
    return anew;
  }

  private grant(ticket: FlowTicket, now: Milliseconds): boolean {
    if (!ticket.grant(now)) return false;
    this.reservations.used(ticket.flow.vector, now);
    this.anew ||= this.lends;
    return true;
  }

  /** Whether somebody is held back for another's sake: until when depends on every dimension of the other. */
  private delays(ticket: Wanted, now: Milliseconds): boolean {
    const delays = this.reservations.delayedBy(ticket, now);
    if (delays) this.awaited.addAll();
    return delays;
  }
}

/** Reservations hold back for as long as nobody can say; what is lent comes back at a known time. */
function isLent(until: Milliseconds | undefined): boolean {
  return until !== undefined && until < Infinity;
}

function closeBehind(flow: Flow, queue: FairQueue, { dimension }: Block): void {
  const { id, scope } = dimension.spec;
  if (scope === 'account') queue.close(id);
  else if (scope === 'model') queue.close(id, flow.model);
}
