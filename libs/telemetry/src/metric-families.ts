import type { MetricDescription } from './metric-names.js';

/** Series of one metric, found by their label values: a walk over short maps, without building a key. */
interface Branch<Series> {
  readonly next: Map<string, Branch<Series>>;
  series?: { readonly labels: readonly string[]; readonly value: Series };
}

function areSame(some: readonly string[], others: readonly string[]): boolean {
  for (let at = 0; at < some.length; at += 1) if (some[at] !== others[at]) return false;
  return some.length === others.length;
}

/** One series as it is read. */
export interface Reading<Series> {
  /** In the order of the description's labels; `undefined` in the overflow series. */
  readonly labels: readonly string[] | undefined;
  readonly value: Series;
}

/** A metric and its series. Beyond `limit` series everything new falls into one overflow series. */
abstract class Family<Series> {
  private readonly root: Branch<Series> = { next: new Map() };
  private readonly all: Reading<Series>[] = [];
  private overflow: Series | undefined;
  /** What was asked for last: most requests are like the one before, and a walk touches much memory that nobody else does. */
  private latest: Reading<Series> | undefined;

  constructor(
    readonly description: MetricDescription,
    private readonly limit: number,
  ) {}

  get size(): number {
    return this.all.length;
  }

  /** Every series; the overflow series, where there is one, last. */
  readings(): readonly Reading<Series>[] {
    if (this.overflow === undefined) return this.all;
    return [...this.all, { labels: undefined, value: this.overflow }];
  }

  protected abstract empty(): Series;

  /** The series with these values, in the order of the description's labels; made at zero when it is new. */
  at(...labels: readonly string[]): Series {
    return this.find(labels);
  }

  /** The same; a list that is there already is not copied to be handed on. */
  protected find(labels: readonly string[]): Series {
    const { latest } = this;
    if (latest?.labels !== undefined && areSame(latest.labels, labels)) return latest.value;
    let branch = this.root;
    for (const label of labels) {
      let below = branch.next.get(label);
      if (below === undefined) {
        below = { next: new Map() };
        if (this.all.length < this.limit) branch.next.set(label, below);
      }
      branch = below;
    }
    if (branch.series === undefined) return this.sprout(branch, labels);
    this.latest = branch.series;
    return branch.series.value;
  }

  private sprout(branch: Branch<Series>, labels: readonly string[]): Series {
    if (this.all.length >= this.limit) return (this.overflow ??= this.empty());
    const value = this.empty();
    // A copy: arrays of arguments that are kept would teach V8 to allocate all of them among what is old.
    branch.series = { labels: [...labels], value };
    this.all.push(branch.series);
    return value;
  }
}

/** A sum that only grows. */
export interface Sum {
  total: number;
}

/** A metric that counts. */
export class CounterFamily extends Family<Sum> {
  /** Values below zero are a bug elsewhere and are left out. */
  add(value: number, ...labels: readonly string[]): void {
    if (value >= 0) this.find(labels).total += value;
  }

  protected override empty(): Sum {
    return { total: 0 };
  }
}

/** Counts of values up to each bound, the last beyond all of them. */
export interface Distribution {
  readonly counts: number[];
  sum: number;
  count: number;
}

/** A metric of durations. */
export class HistogramFamily extends Family<Distribution> {
  readonly bounds: readonly number[];

  constructor(description: MetricDescription, limit: number) {
    super(description, limit);
    this.bounds = description.buckets ?? [];
  }

  record(value: number, ...labels: readonly string[]): void {
    const series = this.find(labels);
    let bucket = 0;
    while (value > (this.bounds[bucket] ?? Infinity)) bucket += 1;
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
    series.sum += value;
    series.count += 1;
  }

  protected override empty(): Distribution {
    return { counts: new Array<number>(this.bounds.length + 1).fill(0), sum: 0, count: 0 };
  }
}

/** A value that is read when somebody asks. */
export class GaugeFamily {
  constructor(
    readonly description: MetricDescription,
    private readonly read: () => Iterable<Reading<number>>,
  ) {}

  readings(): readonly Reading<number>[] {
    return [...this.read()];
  }
}
