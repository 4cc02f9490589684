import type { Clock } from '@weir/kernel';
import type { LabelGuard } from './label-guard.js';
import { LeftStates } from './left-states.js';
import type { Reading } from './metric-families.js';
import { METRICS } from './metric-names.js';
import type { MetricRegistry } from './metric-registry.js';
import { BREAKER_STATES } from './names.js';
import type { AccountLabels } from './request-trace.js';

/** How the targets are, at one instant. */
export interface HealthReading {
  readonly breakers: readonly {
    readonly account: string;
    readonly model: string;
    readonly state: (typeof BREAKER_STATES)[number];
  }[];
  /** Accounts, or single models of them, that are not called until somebody acts or a reset comes. */
  readonly parked: readonly {
    readonly account: string;
    readonly model?: string | undefined;
    readonly reason: string;
  }[];
}

/** Gauges of breakers and parked accounts; they show nothing until somebody says where to read. */
export class HealthMetrics {
  private read: (() => HealthReading) | undefined;

  constructor(
    registry: MetricRegistry,
    private readonly guard: LabelGuard,
    private readonly accounts: ReadonlyMap<string, AccountLabels>,
    clock: Clock,
  ) {
    const unparked = new LeftStates(clock);
    registry.gauge(METRICS.breakerState, () => this.breakers());
    registry.gauge(METRICS.accountParked, () => unparked.with(this.parked()));
  }

  watch(read: () => HealthReading): void {
    this.read = read;
  }

  /** A state set: 1 for the state that is, 0 for the others, so that a graph shows when it changed. */
  private *breakers(): Generator<Reading<number>> {
    for (const { account, model, state } of this.read?.().breakers ?? [])
      for (const each of BREAKER_STATES)
        yield { labels: [...this.labelsOf(account, model), each], value: each === state ? 1 : 0 };
  }

  private *parked(): Generator<readonly string[]> {
    for (const { account, model = '*', reason } of this.read?.().parked ?? [])
      yield [...this.labelsOf(account, model), reason];
  }

  private labelsOf(account: string, model: string): readonly string[] {
    return [this.accounts.get(account)?.provider ?? 'other', this.guard.model(model), account];
  }
}
