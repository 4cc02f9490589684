import { seededRandom, type Milliseconds, type Random } from '@weir/kernel';
import { createDimension } from '../create-dimension.js';
import type { Dimension, Shape } from '../dimension.js';
import { quotaModel, type ModelQuota, type QuotaModel } from './provider-model.js';

// Looked up once: in jest's contexts every look-up of a global costs as much as the arithmetic.
const { PI, ceil, cos, exp, log, max, min, round, sqrt } = Math;

/** One virtual run of a single FIFO queue against one provider. */
export interface PacingPlan {
  readonly seed: number;
  readonly provider: ModelQuota;
  /** What the limiter is told, where it is not the truth. */
  readonly configured?: number;
  /** Tokens per window; they are enforced as a bucket where requests are, else as a sliding or fixed window. */
  readonly tokensPerWindow: number;
  readonly declared: Shape;
  readonly delaySpreadMs: Milliseconds;
  /** Arrivals per window at full load. */
  readonly demand: number;
  readonly meanTokens: number;
  readonly largestTokens: number;
  readonly warmUpMs: Milliseconds;
  readonly measuredMs: Milliseconds;
  /** Load in bursts: on for `onMs` in every `everyMs`. */
  readonly bursts?: { readonly onMs: Milliseconds; readonly everyMs: Milliseconds };
  readonly countsRejected?: boolean;
  /** Mean of the exponential part of the one-way delay. */
  readonly jitterMs?: Milliseconds;
  /** The longest that part can be. Without it, it sometimes goes beyond any J. */
  readonly jitterCapMs?: Milliseconds;
  readonly deadlineMs?: Milliseconds;
}

/** What came of it. */
export interface PacingResult {
  readonly attempts: number;
  readonly rejected: number;
  /** Of the measured time only. */
  readonly rejectedShare: number;
  readonly requestUse: number;
  readonly tokenUse: number;
  /** All refusals, from the first second. */
  readonly rejectedInAll: number;
  readonly requests: Dimension;
  readonly tokens: Dimension;
  readonly events: readonly string[];
}

interface Request {
  readonly arrivedAt: Milliseconds;
  readonly tokens: number;
}

type Event =
  | { readonly at: Milliseconds; readonly kind: 'reached'; readonly request: Request; readonly slots: Slots }
  | {
      readonly at: Milliseconds;
      readonly kind: 'refused';
      readonly request: Request;
      readonly slots: Slots;
      readonly by: 'requests' | 'tokens';
      readonly hintMs: Milliseconds;
    };

interface Slots {
  readonly requests: number;
  readonly tokens: number;
}

const BASE_DELAY_MS: Milliseconds = 20;
const TIMER_LATENESS_MS: Milliseconds = 1.5;

/** Runs the plan to its end. */
export function runPacing(plan: PacingPlan): PacingResult {
  return new PacingRun(plan).run();
}

class PacingRun {
  private readonly random: Random;
  private readonly requests: Dimension;
  private readonly tokens: Dimension;
  private readonly requestModel: QuotaModel;
  private readonly tokenModel: QuotaModel;
  private readonly queue: Request[] = [];
  private readonly retries: Request[] = [];
  private readonly flying: Event[] = [];
  private head = 0;
  private planned: { readonly head: Request; readonly at: Milliseconds } | undefined;
  private now: Milliseconds = 0;
  private nextArrival: Milliseconds = 0;
  private attempts = 0;
  private rejected = 0;
  private rejectedInAll = 0;
  private taken = { requests: 0, tokens: 0 };
  private readonly events: string[] = [];

  constructor(private readonly plan: PacingPlan) {
    const { provider, tokensPerWindow, declared, delaySpreadMs } = plan;
    const { windowMs, shape } = provider;
    this.random = seededRandom(plan.seed);
    const common = { scope: 'account', windowMs, delaySpreadMs } as const;
    this.requests = createDimension(
      {
        ...common,
        id: 'requests',
        unit: 'requests',
        limit: plan.configured ?? provider.limit,
        shape: declared,
      },
      0,
    );
    this.tokens = createDimension(
      {
        ...common,
        id: 'tokens',
        unit: 'tokens',
        limit: tokensPerWindow,
        shape: forTokens(declared, tokensPerWindow),
      },
      0,
    );
    const tokenShape =
      typeof shape === 'object' && 'bucket' in shape
        ? { bucket: tokensPerWindow }
        : typeof shape === 'object'
          ? 'sliding'
          : shape;
    this.requestModel = quotaModel(provider, this.random);
    this.tokenModel = quotaModel({ limit: tokensPerWindow, windowMs, shape: tokenShape }, this.random);
    this.nextArrival = this.gap(0);
  }

  run(): PacingResult {
    const { warmUpMs, measuredMs, provider, tokensPerWindow } = this.plan;
    const end = warmUpMs + measuredMs;
    while (this.now < end) this.step();
    const windows = measuredMs / provider.windowMs;
    return {
      attempts: this.attempts,
      rejected: this.rejected,
      rejectedShare: this.attempts === 0 ? 0 : this.rejected / this.attempts,
      requestUse: this.taken.requests / (provider.limit * windows),
      tokenUse: this.taken.tokens / (tokensPerWindow * windows),
      rejectedInAll: this.rejectedInAll,
      requests: this.requests,
      tokens: this.tokens,
      events: this.events,
    };
  }

  private step(): void {
    const head = this.next();
    const grantAt = head ? this.grantTime(head) : Infinity;
    const event = this.flying[0];
    const eventAt = event ? event.at : Infinity;
    if (this.nextArrival <= grantAt && this.nextArrival <= eventAt) {
      this.now = this.nextArrival;
      this.queue.push({ arrivedAt: this.now, tokens: this.size() });
      this.nextArrival = this.gap(this.now);
    } else if (event && eventAt <= grantAt) {
      this.flying.shift();
      this.now = eventAt;
      this.handle(event);
    } else if (head) {
      this.now = max(this.now, grantAt + this.random.next() * TIMER_LATENESS_MS);
      this.planned = undefined;
      if (this.requests.fits(1, this.now) && this.tokens.fits(head.tokens, this.now)) this.send(head);
    }
  }

  /** Retries keep their age, so they come first. */
  private next(): Request | undefined {
    const deadline = this.now - (this.plan.deadlineMs ?? 60_000);
    while (this.retries[0] && this.retries[0].arrivedAt < deadline) this.retries.shift();
    if (this.retries[0]) return this.retries[0];
    for (let each = this.queue[this.head]; each; each = this.queue[this.head]) {
      if (each.arrivedAt >= deadline) return each;
      this.head += 1;
    }
    return undefined;
  }

  /** Asked once per head and change; whether both have room by then is asked again. */
  private grantTime(head: Request): Milliseconds {
    if (this.planned?.head !== head) {
      const at = max(this.requests.earliest(1, this.now), this.tokens.earliest(head.tokens, this.now));
      this.planned = { head, at };
    }
    return this.planned.at;
  }

  private send(request: Request): void {
    if (this.retries[0] === request) this.retries.shift();
    else this.head += 1;
    const slots = {
      requests: this.requests.debit(1, this.now),
      tokens: this.tokens.debit(request.tokens, this.now),
    };
    this.fly({ at: this.now + this.delay(), kind: 'reached', request, slots });
  }

  private handle(event: Event): void {
    if (event.kind === 'refused') {
      this.planned = undefined;
      const dimension = event.by === 'requests' ? this.requests : this.tokens;
      dimension.pause(this.now + event.hintMs);
      dimension.throttled(this.now, event.hintMs);
      this.tokens.correct(event.slots.tokens, -event.request.tokens, this.now);
      this.retries.push(event.request);
      this.events.push(
        `${(this.now / 1000).toFixed(2)} ${event.by} hint ${event.hintMs} -> ${dimension.describe()}`,
      );
      return;
    }
    const measured = this.now >= this.plan.warmUpMs;
    const waits = {
      requests: this.requestModel.wait(1, this.now),
      tokens: this.tokenModel.wait(event.request.tokens, this.now),
    };
    if (measured) this.attempts += 1;
    if (waits.requests === 0 && waits.tokens === 0) {
      this.requestModel.take(1, this.now);
      this.tokenModel.take(event.request.tokens, this.now);
      if (measured) {
        this.taken.requests += 1;
        this.taken.tokens += event.request.tokens;
      }
      return;
    }
    if (this.plan.countsRejected) this.requestModel.take(1, this.now);
    if (measured) this.rejected += 1;
    this.rejectedInAll += 1;
    const by = waits.requests >= waits.tokens ? 'requests' : 'tokens';
    const hintMs = ceil(waits[by] / 1000) * 1000;
    this.fly({ ...event, kind: 'refused', at: this.now + this.delay(), by, hintMs });
  }

  private fly(event: Event): void {
    let index = this.flying.length;
    while (index > 0 && (this.flying[index - 1]?.at ?? 0) > event.at) index -= 1;
    this.flying.splice(index, 0, event);
  }

  private delay(): Milliseconds {
    return BASE_DELAY_MS + min(this.plan.jitterCapMs ?? Infinity, this.exponential(this.plan.jitterMs ?? 25));
  }

  private gap(from: Milliseconds): Milliseconds {
    const next = from + this.exponential(this.plan.provider.windowMs / this.plan.demand);
    const bursts = this.plan.bursts;
    if (!bursts || next % bursts.everyMs < bursts.onMs) return next;
    return ceil(next / bursts.everyMs) * bursts.everyMs + this.exponential(10);
  }

  private exponential(mean: number): number {
    return -mean * log(1 - this.random.next());
  }

  /** Lognormal with sigma 1, cut. */
  private size(): number {
    const normal = sqrt(-2 * log(1 - this.random.next())) * cos(2 * PI * this.random.next());
    const tokens = round(this.plan.meanTokens * exp(normal - 0.5));
    return min(this.plan.largestTokens, max(1, tokens));
  }
}

/** A bucket of requests goes with a bucket of a whole window of tokens; quanta are of requests only. */
function forTokens(shape: Shape, tokensPerWindow: number): Shape {
  if (shape.kind === 'bucket') return { kind: 'bucket', capacity: tokensPerWindow };
  return shape.kind === 'quantum' ? { kind: 'sliding' } : shape;
}
