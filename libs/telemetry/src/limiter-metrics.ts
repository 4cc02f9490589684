import type { CallIdentity, Clock, Milliseconds, Stay, Target } from '@weir/kernel';
import type { DimensionStatus, Ending, LimiterStatus, QuotaObservation } from '@weir/limiter';
import { bucketLabel, isBreakerGate } from './buckets.js';
import type { Instruments } from './instruments.js';
import type { LabelGuard } from './label-guard.js';
import { LeftStates } from './left-states.js';
import type { Reading } from './metric-families.js';
import { METRICS } from './metric-names.js';
import type { MetricRegistry } from './metric-registry.js';
import type { AccountLabels } from './request-trace.js';
import type { LimiterWatch } from './traced-limiter.js';
import { WaitingRoom } from './waiting-room.js';

/** What the gauges of a limiter need. */
export interface LimiterMetricsOptions {
  readonly registry: MetricRegistry;
  readonly instruments: Instruments;
  readonly guard: LabelGuard;
  readonly accounts: ReadonlyMap<string, AccountLabels>;
  readonly clock: Clock;
}

/** Gauges of room, limit, depth and age, and the counters of how permits ended. */
export class LimiterMetrics implements LimiterWatch {
  private readonly waiting = new WaitingRoom();
  private readonly running = new WaitingRoom();
  private readonly remaining = new Map<string, Reading<number>>();
  private readonly formerShapes: LeftStates;
  private status: (() => LimiterStatus) | undefined;

  constructor(private readonly options: LimiterMetricsOptions) {
    const { registry, clock } = options;
    this.formerShapes = new LeftStates(clock);
    registry.gauge(METRICS.queueDepth, () => counts(this.waiting));
    registry.gauge(METRICS.inflight, () => counts(this.running));
    registry.gauge(METRICS.queueOldest, () => ages(this.waiting, clock.now()));
    registry.gauge(METRICS.providerRemaining, () => this.remaining.values());
    registry.gauge(METRICS.bucketLimit, () => this.dimensions((dimension) => dimension.limit));
    registry.gauge(METRICS.bucketLevel, () => this.dimensions((dimension) => dimension.room));
    registry.gauge(METRICS.bucketPaused, () => this.dimensions((dimension) => dimension.pausedForMs / 1000));
    registry.gauge(METRICS.bucketShape, () => this.formerShapes.with(this.shapes()));
  }

  /** Takes the levels from this limiter from now on. */
  watch(status: () => LimiterStatus): void {
    this.status = status;
  }

  waits({ model }: Target, identity: CallIdentity, since: Milliseconds): Stay<Milliseconds> {
    return this.waiting.enter(this.options.guard.model(model), identity, since);
  }

  holds({ model }: Target, identity: CallIdentity, since: Milliseconds): Stay<Milliseconds> {
    return this.running.enter(this.options.guard.model(model), identity, since);
  }

  charged(target: Target, { team, template }: CallIdentity, ending: Ending): void {
    const { instruments, guard } = this.options;
    const model = guard.model(target.model);
    const burner = guard.team(team);
    const provider = this.providerOf(target.account);
    instruments.quotaTokens.add(ending.chargedTokens, provider, model, burner, guard.template(template));
    const overdrawn = ending.chargedTokens - ending.reservedTokens;
    if (overdrawn > 0) instruments.tokensOverdrawn.add(overdrawn, model, burner);
  }

  observed({ account, model }: Target, observation: QuotaObservation): void {
    const known = this.options.guard.model(model);
    const told = [
      ['rpm', observation.remainingRequests],
      ['tpm', observation.remainingTokens],
    ] as const;
    for (const [bucket, value] of told) {
      if (value === undefined) continue;
      const labels = [this.providerOf(account), known, account, bucket];
      this.remaining.set(labels.join('\n'), { labels, value });
    }
  }

  /**
   * A dimension without a limit has nothing to show. Of two with the same labels, such as a declared and a learned limit,
   * the tighter one counts: Prometheus refuses a page that names a series twice.
   */
  private dimensions(read: (dimension: DimensionStatus) => number): Iterable<Reading<number>> {
    return [...this.tightest().values()]
      .map((dimension) => ({ labels: this.labelsOf(dimension), value: read(dimension) }))
      .filter(({ value }) => Number.isFinite(value));
  }

  private *shapes(): Generator<readonly string[]> {
    for (const dimension of this.tightest().values())
      if (dimension.shape !== undefined) yield [...this.labelsOf(dimension), dimension.shape];
  }

  private tightest(): ReadonlyMap<string, DimensionStatus> {
    const tightest = new Map<string, DimensionStatus>();
    for (const dimension of this.status?.().dimensions ?? []) {
      if (isBreakerGate(dimension.id)) continue;
      const key = this.labelsOf(dimension).join('\n');
      if (dimension.limit < (tightest.get(key)?.limit ?? Infinity)) tightest.set(key, dimension);
    }
    return tightest;
  }

  /** Dimensions of a whole account, or of a team, have the model `*`. */
  private labelsOf(dimension: DimensionStatus): readonly string[] {
    const { account = '', model = '*', team = '' } = dimension;
    const provider = account === '' ? '' : this.providerOf(account);
    return [provider, model, account, team, bucketLabel(dimension)];
  }

  private providerOf(account: string): string {
    return this.options.accounts.get(account)?.provider ?? 'other';
  }
}

function* counts(room: WaitingRoom): Generator<Reading<number>> {
  for (const { model, priority, count } of room.occupancy())
    yield { labels: [model, priority], value: count };
}

function* ages(room: WaitingRoom, now: Milliseconds): Generator<Reading<number>> {
  for (const { model, priority, oldestSince } of room.occupancy())
    yield { labels: [model, priority], value: (now - (oldestSince ?? now)) / 1000 };
}
