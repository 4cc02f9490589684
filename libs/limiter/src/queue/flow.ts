import type { Milliseconds, Priority, Tokens } from '@weir/kernel';
import type { Lease, Leaseholder } from '../leases.js';
import { countsRequests, type Charge, type Vector } from '../ledger/ledger.js';
import type { Cost } from '../limiter.js';
import { Lane, PRIORITY_WEIGHTS } from './lane.js';
import type { ModelClass, Place } from './model-class.js';
import { RecentUse } from './recent-use.js';
import { SizeTree, type Found, type When } from './size-tree.js';
import { smallerFirst, type Ticket } from './ticket.js';
import { WaitingLine } from './waiting-line.js';

/** Whose turn it is for how much: one team, for all its flows. */
export interface Team {
  readonly id: string;
  readonly weight: number;
}

/** A ticket that lies in a flow. */
export type FlowTicket = Ticket<Flow>;

/** The waiting requests of one team for one model, and where they stand in the fair order. */
export class Flow implements Leaseholder {
  /**
   * Where the next request starts, in virtual time of the model class: the work that this flow was given, in
   * dominant shares over weight, from the class's virtual time at the flow's return on.
   */
  tag = 0;
  /** When somebody asked who came after a rest. */
  since: Milliseconds = 0;
  /** What it took of the shared dimensions, where it was ever contested. */
  recent: RecentUse | undefined;
  /** A ticket that owns a reservation goes first, whoever came meanwhile. */
  pinned: FlowTicket | undefined;
  /** When the pinned one claimed, in order of claims: others may have to wait for an earlier owner, so that one goes first. */
  rank = 0;
  /** The team's own limit held it back since its last grant: it gathers no credit for that. */
  held = false;
  /** Its first waits until the flow is below its fair share again: nobody of the flow goes before. */
  waitsForShare = false;
  /** Those of its dimensions that its permits hold, and not only spend. */
  readonly slots: Vector;
  lease: Lease | undefined;
  waiting = 0;
  inputTokens: Tokens = 0;
  outputTokens: Tokens = 0;
  /** Sum over the waiting. */
  share = 0;
  private time = 0;
  /** Where it stands in the order of its class, if it does. */
  private place: Place<Flow> | undefined;
  /** A pass has taken it out of the order, and will put it back. */
  private inHand = false;
  private readonly high = new Lane<FlowTicket>('high');
  private readonly normal = new Lane<FlowTicket>('normal');
  private readonly low = new Lane<FlowTicket>('low');
  /** Kept from the first look for a gap on, until nobody waits: most flows never have one. */
  private bySize: WaitingLine<FlowTicket> | undefined;
  /** The same where input and output are limited apart. */
  private sizes: SizeTree<FlowTicket> | undefined;
  /** More than one kind of tokens is limited: none of them is the smallest for all. */
  readonly hasManySizes: boolean;
  /** Tickets that stand where their request stood before. */
  private retries = 0;
  private isStopped = false;

  constructor(
    readonly model: ModelClass<Flow>,
    readonly team: Team,
    readonly vector: Vector,
  ) {
    this.slots = vector.filter(({ spec }) => spec.unit === 'slots');
    const kinds = vector.map(({ spec }) => spec.unit).filter((unit) => !countsRequests(unit));
    this.hasManySizes = new Set(kinds).size > 1;
  }

  /** Whether the team's own limit stopped its first when it was last looked at: its model is not waited for on its behalf. */
  get stopped(): boolean {
    return this.isStopped;
  }

  set stopped(stopped: boolean) {
    if (stopped === this.isStopped) return;
    this.isStopped = stopped;
    if (this.waiting > 0) this.model.demand.count(this.team.weight, stopped ? -1 : 1);
    const { waiting, inputTokens, outputTokens } = this;
    this.model.demand.add({ requests: waiting, inputTokens, outputTokens }, stopped ? -1 : 1);
  }

  /** It has something waiting that could go, as far as its team’s own limit is concerned. */
  get wants(): boolean {
    return this.waiting > 0 && !this.isStopped;
  }

  add(ticket: FlowTicket): void {
    this[ticket.priority].add(ticket, this.time);
    this.bySize?.push(ticket);
    this.sizes?.push(ticket);
    this.count(ticket, 1);
  }

  /** A ticket was granted: its lane has had its share. */
  serve(ticket: FlowTicket): void {
    const lane = this[ticket.priority];
    this.time = Math.max(this.time, lane.tag);
    lane.tag += ticket.share / PRIORITY_WEIGHTS[ticket.priority];
    this.drop(ticket);
  }

  /** A ticket stopped waiting, for whatever reason. */
  drop(ticket: FlowTicket): void {
    ticket.waiting = false;
    if (this.pinned === ticket) this.pinned = undefined;
    this[ticket.priority].drop();
    this.count(ticket, -1);
    if (this.waiting > 0) this.bySize?.tidy(this.waiting);
    else this.bySize = this.sizes = undefined;
  }

  /** Who goes next. */
  next(): FlowTicket | undefined {
    if (this.pinned !== undefined) return this.pinned;
    if (this.normal.waiting === this.waiting) return this.normal.tickets.first();
    let best = this.normal.waiting > 0 ? this.normal : undefined;
    if (this.high.waiting > 0 && !(best && best.tag < this.high.tag)) best = this.high;
    if (this.low.waiting > 0 && !(best && best.tag <= this.low.tag)) best = this.low;
    return best?.tickets.first();
  }

  /** The one that fits into the smallest gap. */
  smallest(): FlowTicket | undefined {
    this.bySize ??= this.inOrderOfSize();
    return this.bySize.first();
  }

  /** The oldest that may go, whatever its size. */
  find(when: When<FlowTicket>): Found<FlowTicket> {
    this.sizes ??= new SizeTree(this.living().sort((a, b) => a.age - b.age));
    return this.sizes.find(when);
  }

  /** Which part of the waiting goes before a newcomer of this priority: its lane's own, and the others' by weight. */
  partAhead(priority: Priority): number {
    if (this.waiting === 0) return 0;
    const busy = [this.high, this.normal, this.low].filter(
      (lane) => lane.waiting > 0 || lane.priority === priority,
    );
    const weights = busy.reduce((sum, lane) => sum + PRIORITY_WEIGHTS[lane.priority], 0);
    return Math.min(1, (this[priority].waiting * weights) / PRIORITY_WEIGHTS[priority] / this.waiting);
  }

  /** Longest waiting request. */
  oldest(): FlowTicket | undefined {
    const firsts = [this.high, this.normal, this.low].flatMap((lane) => lane.tickets.first() ?? []);
    return firsts.reduce<FlowTicket | undefined>(
      (old, each) => (old && old.age < each.age ? old : each),
      undefined,
    );
  }

  /**
   * An attempt cost more than it reserved, or less. What was too much let others go before: a flow that has waited ever since gets it
   * back but for the part of a window that it kept from them, and is never more than a window's worth before the time of its class.
   */
  correct(delta: number, madeAt: Milliseconds, now: Milliseconds): void {
    if (delta === 0) return;
    const kept = delta < 0 ? Math.min(1, (now - madeAt) / this.model.windowMs) : 0;
    const moved = this.tag + (delta * (1 - kept)) / this.team.weight;
    const credit = this.waiting > 0 && madeAt >= this.since ? 1 / this.team.weight : 0;
    this.tag = Math.max(moved, Math.min(this.tag, this.model.time - credit));
    this.reorder();
  }

  /** Something of it was granted while the account was contested. */
  spend(cost: Cost, now: Milliseconds): void {
    this.recent ??= new RecentUse(this.model.shared, now);
    this.recent.add(cost, now);
    this.model.spend(this, cost, now);
  }

  /** What an attempt took of the shared dimensions was something else. */
  amend(cost: Cost, charge: Charge, madeAt: Milliseconds): void {
    this.recent?.correct(cost, charge, madeAt);
    this.model.recent?.correct(cost, charge, madeAt);
  }

  /** Its key may have changed: it goes where it belongs in the order, unless a pass has it in hand. */
  reorder(): void {
    if (!this.inHand) this.stand();
  }

  /** A pass has taken it out of the order. */
  taken(): void {
    this.inHand = true;
    this.leave();
  }

  /** Back into the order, where it has something waiting. */
  putBack(): void {
    this.inHand = false;
    this.stand();
  }

  private stand(): void {
    if (this.waiting === 0) {
      this.leave();
      return;
    }
    const key = this.currentKey();
    const rank = this.pinned === undefined ? 0 : this.rank;
    if (this.place?.key === key && this.place.rank === rank) return;
    this.leave();
    this.place = this.model.line(this, key, rank);
  }

  private leave(): void {
    if (this.place) this.place.waiting = false;
    this.place = undefined;
  }

  /** The tag, or the older one of a retry that comes first. */
  private currentKey(): number {
    if (this.pinned !== undefined) return -Infinity;
    const next = this.retries === 0 ? undefined : this.next();
    return next === undefined ? this.tag : Math.min(this.tag, next.tag - this.model.offset);
  }

  private inOrderOfSize(): WaitingLine<FlowTicket> {
    const order = new WaitingLine<FlowTicket>(smallerFirst);
    for (const ticket of this.living()) order.push(ticket);
    return order;
  }

  private living(): FlowTicket[] {
    return [this.high, this.normal, this.low].flatMap((lane) => lane.tickets.living());
  }

  private count(ticket: FlowTicket, sign: 1 | -1): void {
    const before = this.waiting;
    this.waiting += sign;
    if (!this.isStopped) {
      if (before === 0 || this.waiting === 0) this.model.demand.count(this.team.weight, sign);
      this.model.demand.add({ requests: 1, ...ticket.cost }, sign);
    }
    if (ticket.tag < Infinity) this.retries += sign;
    this.inputTokens += sign * ticket.cost.inputTokens;
    this.outputTokens += sign * ticket.cost.outputTokens;
    // An empty flow has no share left, not even a rounding error of it.
    this.share = this.waiting === 0 ? 0 : this.share + sign * ticket.share;
  }
}
