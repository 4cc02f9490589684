import type { Milliseconds, Random } from '@weir/kernel';

/** How a provider enforces "60 a minute". Own code: neither the limiter's nor the simulator's. */
export type ProviderShape =
  'sliding' | 'fixed' | { readonly bucket: number } | { readonly quantumMs: Milliseconds };

/** Six providers that allow the same each minute, one for each way of enforcing it that is documented or was seen. */
export const PROVIDERS: readonly (readonly [name: string, shape: ProviderShape])[] = [
  ['sliding', 'sliding'],
  ['fixed', 'fixed'],
  ['bucket(60)', { bucket: 60 }],
  ['bucket(10)', { bucket: 10 }],
  ['1 per 1 s', { quantumMs: 1_000 }],
  ['10 per 10 s', { quantumMs: 10_000 }],
];

/** One quota, as its provider keeps it. */
export interface ProviderQuota {
  /** Time until the amount has room; 0: now. */
  waitMs(amount: number, now: Milliseconds): Milliseconds;
  take(amount: number, now: Milliseconds): void;
}

/** Limits per window of one key. */
export interface ProviderLimits {
  readonly requests: number;
  readonly tokens: number;
  readonly windowMs: Milliseconds;
}

/** What a call was told. */
export type Judgement =
  | { readonly admitted: true }
  | { readonly admitted: false; readonly by: 'requests' | 'tokens'; readonly retryAfterMs: Milliseconds };

/** A provider: takes from both of its quotas or from none, and says in whole seconds when to come back. */
export class ModelProvider {
  private readonly requests: ProviderQuota;
  private readonly tokens: ProviderQuota;

  constructor(
    shape: ProviderShape,
    limits: ProviderLimits,
    private readonly countsRejected: boolean,
    random: Random,
  ) {
    // The phase of a provider's windows is nobody's choice.
    const phase = random.next();
    this.requests = quotaOf(shape, limits.requests, limits.windowMs, phase);
    this.tokens = quotaOf(tokenShape(shape, limits.tokens), limits.tokens, limits.windowMs, phase);
  }

  call(tokens: number, now: Milliseconds): Judgement {
    const waits = { requests: this.requests.waitMs(1, now), tokens: this.tokens.waitMs(tokens, now) };
    if (waits.requests <= 0 && waits.tokens <= 0) {
      this.requests.take(1, now);
      this.tokens.take(tokens, now);
      return { admitted: true };
    }
    if (this.countsRejected) this.requests.take(1, now);
    const by = waits.requests >= waits.tokens ? 'requests' : 'tokens';
    return { admitted: false, by, retryAfterMs: Math.ceil(waits[by] / 1000) * 1000 };
  }
}

/** Buckets of requests come with a bucket of a window of tokens; slices are of requests only, their tokens slide. */
export function tokenShape(shape: ProviderShape, tokens: number): ProviderShape {
  if (typeof shape === 'string') return shape;
  return 'bucket' in shape ? { bucket: tokens } : 'sliding';
}

function quotaOf(shape: ProviderShape, limit: number, windowMs: Milliseconds, phase: number): ProviderQuota {
  if (shape === 'sliding') return new SlidingQuota(limit, windowMs);
  if (shape === 'fixed') return new FixedQuota(limit, windowMs, phase * windowMs);
  if ('bucket' in shape) return new BucketQuota(shape.bucket, limit / windowMs);
  const { quantumMs } = shape;
  return new FixedQuota(Math.floor((limit * quantumMs) / windowMs), quantumMs, phase * quantumMs);
}

/** An exact log: what was taken at `t` counts until just before `t + windowMs`. */
export class SlidingQuota implements ProviderQuota {
  private readonly log: { readonly at: Milliseconds; readonly amount: number }[] = [];
  private sum = 0;

  constructor(
    private readonly limit: number,
    private readonly windowMs: Milliseconds,
  ) {}

  waitMs(amount: number, now: Milliseconds): Milliseconds {
    this.forget(now);
    let excess = this.sum + amount - this.limit;
    if (excess <= 0) return 0;
    for (const entry of this.log) {
      excess -= entry.amount;
      if (excess <= 0) return entry.at + this.windowMs - now;
    }
    return this.windowMs;
  }

  /** Where refusals count too, what lies beyond the limit decides nothing any more. */
  take(amount: number, now: Milliseconds): void {
    this.log.push({ at: now, amount });
    this.sum += amount;
    for (let oldest = this.log[0]; oldest && this.sum - oldest.amount >= this.limit; oldest = this.log[0])
      this.drop();
  }

  private forget(now: Milliseconds): void {
    for (let oldest = this.log[0]; oldest && oldest.at + this.windowMs <= now; oldest = this.log[0])
      this.drop();
  }

  private drop(): void {
    this.sum -= this.log.shift()?.amount ?? 0;
  }
}

/** A counter that starts anew at every boundary. */
export class FixedQuota implements ProviderQuota {
  private window = -1;
  private sum = 0;

  /** @param phase when windows begin, after every multiple of their length */
  constructor(
    private readonly limit: number,
    private readonly windowMs: Milliseconds,
    private readonly phase: Milliseconds,
  ) {}

  waitMs(amount: number, now: Milliseconds): Milliseconds {
    this.turnTo(now);
    if (this.sum + amount <= this.limit) return 0;
    return (this.window + 1) * this.windowMs + this.phase - now;
  }

  take(amount: number, now: Milliseconds): void {
    this.turnTo(now);
    this.sum += amount;
  }

  private turnTo(now: Milliseconds): void {
    const window = Math.floor((now - this.phase) / this.windowMs);
    if (window === this.window) return;
    this.window = window;
    this.sum = 0;
  }
}

/** A bucket that refills all the time. It starts full, and refusals that count can empty it but not put it in debt. */
export class BucketQuota implements ProviderQuota {
  private level: number;
  private seenAt: Milliseconds = 0;

  /** @param perMs refill in units a millisecond */
  constructor(
    private readonly capacity: number,
    private readonly perMs: number,
  ) {
    this.level = capacity;
  }

  waitMs(amount: number, now: Milliseconds): Milliseconds {
    this.refill(now);
    return this.level + ROUNDING >= amount ? 0 : (amount - this.level) / this.perMs;
  }

  take(amount: number, now: Milliseconds): void {
    this.refill(now);
    this.level = Math.max(0, this.level - amount);
  }

  private refill(now: Milliseconds): void {
    this.level = Math.min(this.capacity, this.level + (now - this.seenAt) * this.perMs);
    this.seenAt = now;
  }
}

/** Keeps a refill of exactly one from being a hair too little. */
const ROUNDING = 1e-9;
