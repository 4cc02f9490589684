import type { Milliseconds, Timer } from '@weir/kernel';
import { expire, type Contender, type Surroundings } from './contender.js';
import { FixedQuota, SlidingQuota, type Judgement, type ProviderLimits } from './provider-quotas.js';
import type { Job } from './traffic.js';

/** A client-side rule of admission, as people write it. */
export interface Budget {
  waitMs(tokens: number, now: Milliseconds): Milliseconds;
  take(tokens: number, now: Milliseconds): void;
  /** Gives a refused call back, where the rule does that. */
  refund(tokens: number): void;
}

/** A budget of two counters; they refund nothing. */
function pairOf(make: (limit: number) => FixedQuota | SlidingQuota, limits: ProviderLimits): Budget {
  const [requests, tokens] = [make(limits.requests), make(limits.tokens)];
  return {
    waitMs: (amount, now) => Math.max(requests.waitMs(1, now), tokens.waitMs(amount, now)),
    take: (amount, now) => {
      requests.take(1, now);
      tokens.take(amount, now);
    },
    refund: () => undefined,
  };
}

/** Counts from each full minute of its own clock. */
export function fixedWindow(limits: ProviderLimits): Budget {
  return pairOf((limit) => new FixedQuota(limit, limits.windowMs, 0), limits);
}

/** Remembers every call for a minute, exactly. */
export function slidingLog(limits: ProviderLimits): Budget {
  return pairOf((limit) => new SlidingQuota(limit, limits.windowMs), limits);
}

/** Capacity a minute's worth, refilled evenly: the second article's bucket, with its order kept. */
export function tokenBucket(limits: ProviderLimits): Budget {
  const rate = (limit: number): number => limit / limits.windowMs;
  return bucketBudget(
    [new ClientBucket(limits.requests, rate(limits.requests))],
    [new ClientBucket(limits.tokens, rate(limits.tokens))],
    false,
  );
}

/** The first article's: 8 at the quota's rate and 6 at 0.8 of it, both given back after a 429; tokens at the quota. */
export function seedsPair(limits: ProviderLimits): Budget {
  const rate = limits.requests / limits.windowMs;
  return bucketBudget(
    [new ClientBucket(8, rate), new ClientBucket(6, 0.8 * rate)],
    [new ClientBucket(limits.tokens, limits.tokens / limits.windowMs)],
    true,
  );
}

function bucketBudget(
  requests: readonly ClientBucket[],
  tokens: readonly ClientBucket[],
  refunds: boolean,
): Budget {
  const each = (amount: number): (readonly [ClientBucket, number])[] => [
    ...requests.map((bucket) => [bucket, 1] as const),
    ...tokens.map((bucket) => [bucket, amount] as const),
  ];
  return {
    waitMs: (amount, now) => Math.max(...each(amount).map(([bucket, cost]) => bucket.waitMs(cost, now))),
    take: (amount) => {
      for (const [bucket, cost] of each(amount)) bucket.level -= cost;
    },
    refund: (amount) => {
      if (refunds) for (const [bucket, cost] of each(amount)) bucket.giveBack(cost);
    },
  };
}

class ClientBucket {
  level: number;
  private seenAt: Milliseconds = 0;

  constructor(
    private readonly capacity: number,
    private readonly perMs: number,
  ) {
    this.level = capacity;
  }

  waitMs(cost: number, now: Milliseconds): Milliseconds {
    this.level = Math.min(this.capacity, this.level + (now - this.seenAt) * this.perMs);
    this.seenAt = now;
    return this.level + ROUNDING >= cost ? 0 : (cost - this.level) / this.perMs;
  }

  giveBack(cost: number): void {
    this.level = Math.min(this.capacity, this.level + cost);
  }
}

const ROUNDING = 1e-9;
const BACKOFF_BASE_MS: Milliseconds = 1_000;
const BACKOFF_CAP_MS: Milliseconds = 60_000;

/**
 * First come, first served, by some budget. Who is refused sleeps its own hint and full jitter on top
 * (1 s, doubled with each refusal), and then stands at the end again.
 */
export class FifoClient implements Contender {
  private readonly queue: Job[] = [];
  private timer: Timer | undefined;

  constructor(
    private readonly budget: Budget,
    private readonly around: Surroundings,
  ) {}

  submit(job: Job): void {
    this.enqueue(job, 0);
  }

  private readonly refusals = new Map<Job, number>();

  private enqueue(job: Job, refusals: number): void {
    if (refusals > 0) this.refusals.set(job, refusals);
    this.queue.push(job);
    if (this.timer === undefined) this.pump();
  }

  private pump(): void {
    const { time } = this.around;
    this.timer = undefined;
    for (let head = this.queue[0]; head; head = this.queue[0]) {
      const now = time.now();
      if (!expire(head, now)) {
        const waitMs = this.budget.waitMs(head.tokens, now);
        if (waitMs > 0) {
          this.timer = time.after(waitMs, () => {
            this.pump();
          });
          return;
        }
        this.budget.take(head.tokens, now);
        this.send(head);
      }
      this.queue.shift();
    }
  }

  private send(job: Job): void {
    const refusals = this.refusals.get(job) ?? 0;
    this.refusals.delete(job);
    this.around.send(job, (judgement) => {
      if (!judgement.admitted) this.comeBack(job, refusals + 1, judgement);
    });
  }

  private comeBack(job: Job, refusals: number, { retryAfterMs }: Judgement & { admitted: false }): void {
    const { time, random } = this.around;
    this.budget.refund(job.tokens);
    if (this.timer !== undefined) {
      this.timer.cancel();
      this.pump();
    }
    const jitter = random.next() * Math.min(BACKOFF_CAP_MS, BACKOFF_BASE_MS * 2 ** (refusals - 1));
    time.after(retryAfterMs + jitter, () => {
      if (!expire(job, time.now())) this.enqueue(job, refusals);
    });
  }
}
