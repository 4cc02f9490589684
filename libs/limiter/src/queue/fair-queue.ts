import type { Target } from '@weir/kernel';
import type { Vector } from '../ledger/ledger.js';
import { Flow, type FlowTicket, type Team } from './flow.js';
import { ModelClass, type Place } from './model-class.js';

/**
 * The order of one account: start-time fair queuing over flows (docs/limiter.md, The rule). A request's place is its start tag,
 * not its size, so a large one waits no longer for being large; its flow pays for it afterwards.
 */
export class FairQueue {
  readonly models = new Map<string, ModelClass<Flow>>();
  waiting = 0;
  /** What blocked the whole account when it was last looked at. */
  boundBy: string | undefined;
  /** Set while one pass of grants has nothing more to look for. */
  private closed = false;
  /** Tag last served. */
  private time = 0;
  private readonly aside: Flow[] = [];

  flow(target: Target, team: Team, vector: () => Vector): Flow {
    let model = this.models.get(target.model);
    if (model === undefined) {
      model = new ModelClass<Flow>(target);
      this.models.set(target.model, model);
    }
    let flow = model.flows.get(team.id);
    if (flow === undefined) {
      flow = new Flow(model, team, vector());
      model.admit(team.id, flow);
    }
    return flow;
  }

  /** A ticket begins to wait. */
  add(ticket: FlowTicket): void {
    const { flow } = ticket;
    if (flow.waiting === 0) {
      this.comeBack(flow);
      flow.since = ticket.askedAt;
      flow.model.busy.add(flow);
    }
    flow.add(ticket);
    flow.model.waiting += 1;
    this.waiting += 1;
    flow.reorder();
  }

  /** A ticket leaves without a grant. */
  drop(ticket: FlowTicket): void {
    ticket.flow.drop(ticket);
    this.departed(ticket.flow);
    ticket.flow.reorder();
  }

  /** A ticket is granted; returns the start tag that it was served at. */
  serve(ticket: FlowTicket): number {
    const { flow } = ticket;
    const tag = this.charge(flow, ticket.share, Math.min(ticket.tag - flow.model.offset, flow.tag));
    flow.serve(ticket);
    this.departed(flow);
    flow.reorder();
    return tag;
  }

  /** Whether another model waits too, and it or this one has limits of its own: what one is given the other is not. */
  isContested(model: ModelClass<Flow>): boolean {
    if (this.models.size < 2) return false;
    for (const other of this.models.values()) {
      if (other === model || other.demand.weight === 0) continue;
      if (other.isEntitled || model.isEntitled) return true;
    }
    return false;
  }

  /** A grant to a flow that has nothing waiting. */
  serveIdle(flow: Flow, share: number): number {
    this.comeBack(flow);
    return this.charge(flow, share, flow.tag);
  }

  /**
   * The next in order waits for room of the account or of its model: it counts as being served, so that whoever comes
   * now stands behind it, as it stands behind what was served before.
   */
  begin(ticket: FlowTicket, scope: 'account' | 'model'): void {
    const { flow } = ticket;
    const { model } = flow;
    const key = Math.min(ticket.tag - model.offset, flow.tag);
    if (scope === 'account') this.moveOn(model, key);
    else model.time = Math.max(model.time, key);
  }

  /** The flow that is next in order, taken in hand by a pass. */
  take(): Flow | undefined {
    let best: Place<Flow> | undefined;
    let bestKey = Infinity;
    for (const model of this.models.values()) {
      const first = model.first();
      // Who owns a reservation is looked at in every pass, so that none is kept for longer than it is waited for.
      if (first === undefined || (model.closed && first.flow.pinned === undefined)) continue;
      const key = first.key + model.offset;
      if (best !== undefined && (key > bestKey || (key === bestKey && first.rank >= best.rank))) continue;
      best = first;
      bestKey = key;
    }
    best?.flow.taken();
    return best?.flow;
  }

  /** Out of this pass. */
  setAside(flow: Flow): void {
    this.aside.push(flow);
  }

  /** Nothing of this model, or of any, can go in this pass, for want of room in a dimension. */
  close(boundBy: string, model?: ModelClass<Flow>): void {
    if (model) {
      model.boundBy = boundBy;
      model.closed = true;
      return;
    }
    this.boundBy = boundBy;
    this.closed = true;
    for (const each of this.models.values()) {
      if (!each.closed) each.boundBy = undefined;
      each.closed = true;
    }
  }

  /** Ends a pass. */
  rewind(): void {
    for (const flow of this.aside) flow.putBack();
    this.aside.length = 0;
    // What did not block in this pass does not any more.
    if (!this.closed) this.boundBy = undefined;
    this.closed = false;
    for (const model of this.models.values()) {
      if (!model.closed) model.boundBy = undefined;
      model.closed = false;
    }
  }

  /** Where a flow stands in the account's time, for estimates. */
  standing(flow: Flow): number {
    const { model } = flow;
    const tag = flow.waiting === 0 ? Math.max(flow.tag, model.time) : flow.tag;
    const lifts = model.waiting === 0 || model.parked || flow.held;
    return lifts ? Math.max(tag + model.offset, this.time) : tag + model.offset;
  }

  /** Work is done for a flow that stood at `key`; returns that place in the account's time. */
  private charge(flow: Flow, share: number, key: number): number {
    const { model } = flow;
    // What its flow is before the time of the class is no matter of other models.
    if (model.parked) this.lift(model, Math.max(key, model.time));
    if (flow.held) {
      flow.tag = Math.max(flow.tag, model.time);
      flow.held = false;
    }
    model.parked = false;
    this.moveOn(model, key);
    flow.tag += share / flow.team.weight;
    return key + model.offset;
  }

  /** Idleness is no credit: a flow comes back where its class is, and a class where the account is. */
  private comeBack(flow: Flow): void {
    const { model } = flow;
    flow.tag = Math.max(flow.tag, model.time);
    if (model.waiting === 0) this.lift(model, flow.tag);
  }

  private lift(model: ModelClass<Flow>, key: number): void {
    model.offset += Math.max(0, this.time - (key + model.offset));
  }

  private moveOn(model: ModelClass<Flow>, key: number): void {
    model.time = Math.max(model.time, key);
    this.time = Math.max(this.time, key + model.offset);
  }

  private departed(flow: Flow): void {
    if (flow.waiting === 0) flow.model.busy.delete(flow);
    flow.model.waiting -= 1;
    this.waiting -= 1;
  }
}
