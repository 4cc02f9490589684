import type { Shape } from './shape.js';

/** What a provider may limit, and how it counts. A number that is absent is no limit. */
export interface Quota {
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
  /** Calls at one time; a slot is held to the last byte. */
  readonly concurrency?: number;
  /** Per day of UTC, in real time whatever `windowSeconds` says. */
  readonly requestsPerDay?: number;
  readonly shape: Shape;
  /** How long "a minute" is. */
  readonly windowSeconds: number;
  /** `reserved`: prompt and largest output at the start, corrected at the end. `produced`: the prompt, then what comes out. */
  readonly charges: 'reserved' | 'produced';
  /** Whether a refused call counts against the requests. */
  readonly countsRejected: boolean;
}

/** How a provider counts: what a model of a key takes over from its key. */
type Manner = Pick<Quota, 'shape' | 'windowSeconds' | 'charges' | 'countsRejected'>;
type Limits = Omit<Quota, keyof Manner>;

/** A change of quota: null takes a limit away. */
export type QuotaChange = Partial<Manner> & { readonly [Field in keyof Limits]?: number | null };

/** Whom a change is for: nobody named is everybody's total. */
export interface QuotaTarget {
  readonly key?: string;
  readonly model?: string;
}

/** What everybody has until somebody says otherwise; per key, for all its models together. */
export const DEFAULT_QUOTA: Quota = {
  requestsPerMinute: 600,
  tokensPerMinute: 1_000_000,
  concurrency: 100,
  shape: 'sliding',
  windowSeconds: 60,
  charges: 'reserved',
  countsRejected: false,
};

/**
 * What was configured, and for whom. A key's total is the default with the key's own changes; a model of a key
 * has limits only where the model or the pair was given some, and counts in the manner of the key.
 */
export class QuotaBook {
  private readonly changes = new Map<string, QuotaTarget & QuotaChange>();

  /** Adds to what was said before about the same target. */
  change(target: QuotaTarget, change: QuotaChange): void {
    const name = nameOf(target);
    this.changes.set(name, { ...this.changes.get(name), ...target, ...change });
  }

  /** The default for a key's total. */
  get default(): Quota {
    return this.resolve(DEFAULT_QUOTA, {});
  }

  forKey(key: string): Quota {
    return this.resolve(this.default, { key });
  }

  forModel(key: string, model: string): Quota {
    const { shape, windowSeconds, charges, countsRejected } = this.forKey(key);
    const unlimited: Quota = { shape, windowSeconds, charges, countsRejected };
    return this.resolve(this.resolve(unlimited, { model }), { key, model });
  }

  /** Everything that was configured, for people. */
  entries(): readonly (QuotaTarget & QuotaChange)[] {
    return [...this.changes.values()];
  }

  private resolve(quota: Quota, target: QuotaTarget): Quota {
    const change = this.changes.get(nameOf(target));
    return change ? changed(quota, change) : quota;
  }
}

function nameOf({ key, model }: QuotaTarget): string {
  return JSON.stringify([key ?? null, model ?? null]);
}

function changed(quota: Quota, change: QuotaChange): Quota {
  return {
    shape: change.shape ?? quota.shape,
    windowSeconds: change.windowSeconds ?? quota.windowSeconds,
    charges: change.charges ?? quota.charges,
    countsRejected: change.countsRejected ?? quota.countsRejected,
    ...limit('requestsPerMinute', quota, change),
    ...limit('tokensPerMinute', quota, change),
    ...limit('concurrency', quota, change),
    ...limit('requestsPerDay', quota, change),
  };
}

function limit(field: keyof Limits, quota: Quota, change: QuotaChange): Limits {
  const said = change[field] === undefined ? quota[field] : change[field];
  return typeof said === 'number' ? { [field]: said } : {};
}
