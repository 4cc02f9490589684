import type { Target } from '@weir/kernel';
import type { Vector } from '../ledger/ledger.js';
import { IDLE, IN_HAND, type Flow, type Team } from './flow.js';
import { ModelClass } from './model-class.js';
import type { Ticket } from './ticket.js';

/**
 * The order of one account: start-time fair queuing over flows (limiter.md 4). A request's place is its start tag,
 * not its size, so a large one waits no longer for being large; its flow pays for it afterwards.
 */
export class FairQueue {
  readonly models = new Map<string, ModelClass>();
  waiting = 0;
  /** What blocked the whole account when it was last looked at. */
  boundBy: string | undefined;
  /** Tag last served. */
  private time = 0;
  private readonly aside: Flow[] = [];

  flow(target: Target, team: Team, vector: () => Vector): Flow {
    let model = this.models.get(target.model);
    if (model === undefined) {
      model = new ModelClass(this, target);
      this.models.set(target.model, model);
    }
    return model.flows.get(team.id) ?? model.flow(team, vector);
  }

  /** A ticket begins to wait. */
  add(ticket: Ticket): void {
    const { flow } = ticket;
    if (flow.waiting === 0) flow.tag = this.lifted(flow);
    flow.add(ticket);
    flow.model.waiting += 1;
    this.waiting += 1;
    this.reorder(flow);
  }

  /** A ticket leaves without a grant. */
  drop(ticket: Ticket): void {
    ticket.flow.drop(ticket);
    this.departed(ticket.flow);
    this.reorder(ticket.flow);
  }

  /** A ticket is granted; returns the start tag that it was served at. */
  serve(ticket: Ticket): number {
    const { flow } = ticket;
    const tag = this.charge(flow, ticket.share, Math.min(ticket.tag - flow.model.offset, flow.tag));
    flow.serve(ticket);
    this.departed(flow);
    this.reorder(flow);
    return tag;
  }

  /** A grant to a flow that has nothing waiting. */
  serveIdle(flow: Flow, share: number): number {
    flow.tag = this.lifted(flow);
    return this.charge(flow, share, flow.tag);
  }

  /** An attempt cost more or less than was reserved. A flow is never moved before the time of its class. */
  correct(flow: Flow, delta: number): void {
    if (delta === 0) return;
    const moved = flow.tag + delta / flow.team.weight;
    const earliest = Math.min(flow.tag, this.time - flow.model.offset);
    flow.tag = Math.max(moved, earliest);
    this.reorder(flow);
  }

  /** The flow that is next in order, taken in hand by a pass. */
  take(): Flow | undefined {
    let best: ModelClass | undefined;
    let bestKey = Infinity;
    for (const model of this.models.values()) {
      const first = model.closed ? undefined : model.backlog.peek();
      if (first === undefined || (best !== undefined && first.key + model.offset >= bestKey)) continue;
      best = model;
      bestKey = first.key + model.offset;
    }
    const flow = best?.backlog.pop();
    if (flow !== undefined) flow.heapIndex = IN_HAND;
    return flow;
  }

  /** Back into the order, to be looked at again in this pass. */
  putBack(flow: Flow): void {
    flow.heapIndex = IDLE;
    if (flow.waiting === 0) return;
    flow.key = keyOf(flow);
    flow.model.backlog.push(flow);
  }

  /** Out of this pass. */
  setAside(flow: Flow): void {
    this.aside.push(flow);
  }

  /** Nothing of this model, or of any, can go in this pass. */
  close(model?: ModelClass): void {
    if (model) model.closed = true;
    else for (const each of this.models.values()) each.closed = true;
  }

  /** Ends a pass. */
  rewind(): void {
    for (const flow of this.aside) this.putBack(flow);
    this.aside.length = 0;
    for (const model of this.models.values()) model.closed = false;
  }

  /** Where a flow stands in the account's time, for estimates. */
  standing(flow: Flow): number {
    const tag = flow.waiting === 0 ? this.lifted(flow) : flow.tag;
    const standing = tag + flow.model.offset;
    return flow.model.parked || flow.held ? Math.max(standing, this.time) : standing;
  }

  /** Its key may have changed, while it lies in the order. */
  reorder(flow: Flow): void {
    if (flow.heapIndex === IN_HAND) return;
    if (flow.heapIndex === IDLE) {
      this.putBack(flow);
    } else if (flow.waiting === 0) {
      flow.model.backlog.removeAt(flow.heapIndex);
      flow.heapIndex = IDLE;
    } else {
      flow.key = keyOf(flow);
      flow.model.backlog.moved(flow.heapIndex);
    }
  }

  private charge(flow: Flow, share: number, key: number): number {
    const { model } = flow;
    const lag = this.time - (key + model.offset);
    if (lag > 0 && model.parked) model.offset += lag;
    if (lag > 0 && flow.held) flow.tag = Math.max(flow.tag, this.time - model.offset);
    model.parked = false;
    flow.held = false;
    const served = key + model.offset;
    this.time = Math.max(this.time, served);
    flow.tag += share / flow.team.weight;
    return served;
  }

  private lifted(flow: Flow): number {
    return Math.max(flow.tag, this.time - flow.model.offset);
  }

  private departed(flow: Flow): void {
    flow.model.waiting -= 1;
    this.waiting -= 1;
  }
}

function keyOf(flow: Flow): number {
  if (flow.pinned !== undefined) return -Infinity;
  const next = flow.next();
  return next === undefined ? flow.tag : Math.min(flow.tag, next.tag - flow.model.offset);
}
