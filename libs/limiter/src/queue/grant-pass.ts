import type { Milliseconds } from '@weir/kernel';
import { blockOf, countsRequests, type Block } from '../ledger/ledger.js';
import type { Awaited } from './awaited.js';
import type { FairQueue } from './fair-queue.js';
import type { Flow, FlowTicket } from './flow.js';
import type { Reservations } from './reservations.js';

/**
 * One look through an account's order: everything is granted that fits, in order, and that moves no reservation.
 * What every request takes alike (requests, slots) ends the look for all who share it, so a look at a full account
 * costs the same whoever waits; what is counted in tokens lets smaller ones be tried.
 */
export class GrantPass {
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
      next = Infinity;
      for (const queue of queues.values())
        if (queue.waiting > 0) next = Math.min(next, this.runThrough(queue, now));
    } while (this.reservations.takeFreed());
    return next;
  }

  /** A newcomer, where everything else has just been looked at. */
  offerNewcomer(ticket: FlowTicket, queue: FairQueue, now: Milliseconds): Milliseconds {
    const { flow } = ticket;
    const block = blockOf(flow.vector, ticket.cost, now);
    if (!block) {
      if (!this.delays(ticket, now)) ticket.grant(now);
      return Infinity;
    }
    this.awaited.add(block.dimension);
    if (flow.next() !== ticket) return this.delays(ticket, now) ? Infinity : block.at;
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
    if (!this.delays(ticket, now) && ticket.grant(now)) {
      flow.putBack();
      return Infinity;
    }
    queue.setAside(flow);
    const block = blockOf(flow.vector, ticket.cost, now);
    if (!block) {
      // It waits for somebody else's sake: what it had reserved is nobody's.
      this.reservations.release(ticket);
      return this.fillGap(flow, ticket, now);
    }
    this.awaited.add(block.dimension);
    const next = this.hold(ticket, block, queue, now);
    if (countsRequests(block.dimension.spec.unit)) {
      closeBehind(flow, queue, block);
      return block.at;
    }
    return Math.min(next, this.fillGap(flow, ticket, now));
  }

  /** A blocked ticket claims the next room, where it is first in line for it. */
  private hold(ticket: FlowTicket, block: Block, queue: FairQueue, now: Milliseconds): Milliseconds {
    const { flow } = ticket;
    const { id, scope } = block.dimension.spec;
    ticket.boundBy = id;
    if (scope === 'model') flow.model.parked = true;
    if (scope === 'team') flow.held = true;
    const owner = this.reservations.claim(ticket, block);
    if (owner && scope !== 'team') queue.begin(ticket, scope);
    return owner || !this.delays(ticket, now) ? block.at : Infinity;
  }

  /** Behind a blocked head, the smallest ones of its flow may fit. */
  private fillGap(flow: Flow, head: FlowTicket, now: Milliseconds): Milliseconds {
    for (let small = flow.smallest(); small !== undefined && small !== head; small = flow.smallest()) {
      const block = blockOf(flow.vector, small.cost, now);
      const delays = this.delays(small, now);
      if (block) {
        this.awaited.add(block.dimension);
        return delays ? Infinity : block.at;
      }
      if (delays || !small.grant(now)) break;
    }
    return Infinity;
  }

  /** Whether somebody is held back for another's sake: until when depends on every dimension of the other. */
  private delays(ticket: FlowTicket, now: Milliseconds): boolean {
    const delays = this.reservations.delayedBy(ticket, now);
    if (delays) this.awaited.addAll();
    return delays;
  }
}

function closeBehind(flow: Flow, queue: FairQueue, { dimension }: Block): void {
  const { id, scope } = dimension.spec;
  if (scope === 'account') {
    queue.boundBy = id;
    queue.close();
  } else if (scope === 'model') {
    flow.model.boundBy = id;
    queue.close(flow.model);
  }
}
