import type { Milliseconds, Random } from '@weir/kernel';

const { floor, max, min } = Math;

/** A quota as a provider keeps it: own code, so that the same mistake is not on both sides. */
export interface QuotaModel {
  /** Milliseconds until the cost would be taken; 0: it would be taken now. */
  wait(cost: number, at: Milliseconds): Milliseconds;
  take(cost: number, at: Milliseconds): void;
}

/** How a provider enforces its window. */
export type ModelShape =
  'sliding' | 'fixed' | { readonly bucket: number } | { readonly quantumMs: Milliseconds };

/** What a provider model is made of. */
export interface ModelQuota {
  readonly limit: number;
  readonly windowMs: Milliseconds;
  readonly shape: ModelShape;
}

/** Builds a quota with a phase of its own. */
export function quotaModel({ limit, windowMs, shape }: ModelQuota, random: Random): QuotaModel {
  if (shape === 'sliding') return new SlidingModel(limit, windowMs);
  if (shape === 'fixed') return new FixedModel(limit, windowMs, random.next() * windowMs);
  if ('bucket' in shape) return new BucketModel(shape.bucket, limit / windowMs);
  const { quantumMs } = shape;
  const perQuantum = max(1, floor((limit * quantumMs) / windowMs));
  return new FixedModel(perQuantum, quantumMs, random.next() * quantumMs);
}

class SlidingModel implements QuotaModel {
  private entries: { readonly at: Milliseconds; readonly cost: number }[] = [];
  private head = 0;
  private sum = 0;

  constructor(
    private readonly limit: number,
    private readonly windowMs: Milliseconds,
  ) {}

  wait(cost: number, at: Milliseconds): Milliseconds {
    for (let first = this.entries[this.head]; first; first = this.entries[this.head]) {
      if (first.at > at - this.windowMs) break;
      this.sum -= first.cost;
      this.head += 1;
    }
    let excess = this.sum + cost - this.limit;
    let index = this.head;
    let until = at;
    while (excess > 0 && index < this.entries.length) {
      const entry = this.entries[index++];
      if (!entry) break;
      excess -= entry.cost;
      until = entry.at + this.windowMs;
    }
    return until - at;
  }

  take(cost: number, at: Milliseconds): void {
    this.entries.push({ at, cost });
    this.sum += cost;
    if (this.head > 4096) {
      this.entries = this.entries.slice(this.head);
      this.head = 0;
    }
  }
}

class FixedModel implements QuotaModel {
  private window = -1;
  private sum = 0;

  constructor(
    private readonly limit: number,
    private readonly windowMs: Milliseconds,
    private readonly phase: Milliseconds,
  ) {}

  wait(cost: number, at: Milliseconds): Milliseconds {
    const window = floor((at + this.phase) / this.windowMs);
    if (window !== this.window) {
      this.window = window;
      this.sum = 0;
    }
    return this.sum + cost <= this.limit ? 0 : (window + 1) * this.windowMs - this.phase - at;
  }

  take(cost: number): void {
    this.sum += cost;
  }
}

class BucketModel implements QuotaModel {
  private level: number;
  private seen = 0;

  constructor(
    private readonly capacity: number,
    private readonly perMs: number,
  ) {
    this.level = capacity;
  }

  wait(cost: number, at: Milliseconds): Milliseconds {
    this.level = min(this.capacity, this.level + (at - this.seen) * this.perMs);
    this.seen = at;
    return this.level + 1e-9 >= cost ? 0 : (cost - this.level) / this.perMs;
  }

  take(cost: number): void {
    this.level -= cost;
  }
}
