import type { Milliseconds, Target } from '@weir/kernel';
import type { Vector } from '../ledger/ledger.js';
import type { Cost } from '../limiter.js';
import { isLong } from '../quota/defaults.js';
import type { DimensionSpec } from '../quota/dimension.js';
import { Demand } from './load.js';
import { RecentUse } from './recent-use.js';
import { WaitingLine, type Waiting } from './waiting-line.js';

/** What a class has to know of its flows. */
export interface Ordered {
  readonly vector: Vector;
  readonly team: { readonly weight: number };
  /** It has something waiting that could go, as far as its team's own limits are concerned. */
  readonly wants: boolean;
}

/** Where a flow stands in the order. One that moves takes another place, and nobody waits at the old one any more. */
export interface Place<Flow> extends Waiting {
  readonly flow: Flow;
  readonly key: number;
  /** Decides where two keys are the same. */
  readonly rank: number;
}

/** The flows of one model of one account. Where its own limits block, it parks and costs other models nothing. */
export class ModelClass<Flow extends Ordered> {
  readonly flows = new Map<string, Flow>();
  /** Those that have something waiting. */
  readonly busy = new Set<Flow>();
  /** The order of the busy ones, but for those that a pass has in hand. */
  private readonly order = new WaitingLine<Place<Flow>>(earlierFirst);
  /**
   * From tags of the class to virtual time of the account. After a park the whole class is lifted to the account's
   * time: its teams keep their order among each other, and the time that it could not use gives no credit.
   */
  offset = 0;
  parked = false;
  /** Tag of the class's last pick, in its own virtual time. */
  time = 0;
  /** Set while one pass of grants has nothing more to look for here. */
  closed = false;
  /** What blocked the class when it was last looked at. */
  boundBy: string | undefined;
  waiting = 0;
  readonly demand = new Demand();
  /** Its limits and its account's. */
  limits: Vector = [];
  /** Those of the account's that other models share over a window, but for buckets, which are the same whenever they are used. */
  shared: Vector = [];
  /** What it took of the shared ones, where it was ever contested. */
  recent: RecentUse | undefined;
  /** Rates of its own, where they are limits. */
  caps: Vector = [];
  /** When each flow was last granted something while the account was contested; who was longest ago comes first. */
  private readonly lastSpent = new Map<Flow, Milliseconds>();
  /** Shortest window of a rate. */
  windowMs: Milliseconds = Infinity;
  /** Longest window of a shared dimension. */
  private longest: Milliseconds = 0;
  private shares = { request: 1, token: 0, input: 0, output: 0 };

  constructor(readonly target: Target) {}

  /** A team comes for the first time. */
  admit(team: string, flow: Flow): void {
    this.flows.set(team, flow);
    if (this.limits.length === 0) this.see(flow.vector);
    this.measure(flow.vector);
  }

  /** Gives a flow a place. */
  line(flow: Flow, key: number, rank: number): Place<Flow> {
    const place = { flow, key, rank, waiting: true };
    this.order.push(place);
    this.order.tidy(this.busy.size);
    return place;
  }

  /** The place of the flow that is next. */
  first(): Place<Flow> | undefined {
    return this.order.first();
  }

  /**
   * Dominant share: the largest part of any limit that the cost takes, over the dimensions that teams share.
   * Slots and days are left out: how long a slot is held is unknown, and a day's quota is not spent evenly.
   */
  shareOf({ inputTokens, outputTokens }: Cost): number {
    const { request, token, input, output } = this.shares;
    return Math.max(
      request,
      token * (inputTokens + outputTokens),
      input * inputTokens,
      output * outputTokens,
    );
  }

  /** Whether a rate of its own limits it, and some of it waits: it cannot make up for what others took. */
  get isEntitled(): boolean {
    return this.caps.length > 0 && this.demand.weight > 0;
  }

  /** Something of it was granted while the account was contested. */
  spend(flow: Flow, cost: Cost, now: Milliseconds): void {
    this.recent ??= new RecentUse(this.shared, now);
    this.recent.add(cost, now);
    this.lastSpent.delete(flow);
    this.lastSpent.set(flow, now);
  }

  /** Weight of those that wait, or that were granted something in this window of a shared dimension. */
  weightIn({ windowMs }: DimensionSpec, now: Milliseconds): number {
    let sum = this.demand.weight;
    for (const [flow, at] of this.lastSpent) {
      if (at + windowMs > now) sum += flow.wants ? 0 : flow.team.weight;
      else if (windowMs === this.longest) this.lastSpent.delete(flow);
    }
    return sum;
  }

  /** When that becomes less, if nothing is granted. */
  weightFallsAt({ windowMs }: DimensionSpec, now: Milliseconds): Milliseconds {
    for (const [flow, at] of this.lastSpent) if (at + windowMs > now && !flow.wants) return at + windowMs;
    return Infinity;
  }

  /** Limits have changed. */
  remeasure(): void {
    const any = this.flows.values().next().value;
    if (any) this.measure(any.vector);
  }

  private see(vector: Vector): void {
    this.limits = vector.filter(({ spec }) => spec.scope !== 'team');
    this.shared = this.limits.filter(
      ({ spec }) =>
        spec.scope === 'account' && spec.unit !== 'slots' && spec.shape.kind !== 'bucket' && !isLong(spec),
    );
    const rates = this.limits.filter(({ spec }) => spec.unit !== 'slots' && !isLong(spec));
    this.windowMs = Math.min(Infinity, ...rates.map(({ spec }) => spec.windowMs));
    this.longest = Math.max(0, ...this.shared.map(({ spec }) => spec.windowMs));
  }

  private measure(vector: Vector): void {
    this.caps = this.limits.filter(
      ({ spec, limit }) => spec.scope === 'model' && spec.unit !== 'slots' && limit !== Infinity,
    );
    const of = (unit: string): number => {
      const limits = vector.filter(({ spec }) => spec.scope !== 'team' && spec.unit === unit);
      return Math.max(0, ...limits.map(({ limit }) => (limit > 0 ? 1 / limit : 0)));
    };
    const shares = {
      request: of('requests'),
      token: of('tokens'),
      input: of('input_tokens'),
      output: of('output_tokens'),
    };
    // Without any rate every request counts alike.
    this.shares = Object.values(shares).some((share) => share > 0) ? shares : { ...shares, request: 1 };
  }
}

function earlierFirst<Flow>(a: Place<Flow>, b: Place<Flow>): boolean {
  return a.key < b.key || (a.key === b.key && a.rank < b.rank);
}
