import type { ConfiguredLabels } from './label-guard.js';
import type { CounterFamily, HistogramFamily } from './metric-families.js';
import { METRICS } from './metric-names.js';
import type { MetricRegistry } from './metric-registry.js';
import { ATTEMPT_OUTCOMES, OUTCOMES, THROTTLE_KINDS } from './names.js';

/** Series of one metric that are made at zero before their first count. */
const ZERO_SERIES_LIMIT = 5_000;

/** Every counter and histogram of the gateway. */
export class Instruments {
  readonly requests: CounterFamily;
  readonly attempts: CounterFamily;
  readonly unsent: CounterFamily;
  readonly throttled: CounterFamily;
  readonly retries: CounterFamily;
  readonly resumes: CounterFamily;
  readonly refunds: CounterFamily;
  readonly tokensReserved: CounterFamily;
  readonly tokensRefunded: CounterFamily;
  readonly tokensOverdrawn: CounterFamily;
  readonly quotaTokens: CounterFamily;
  readonly costUsd: CounterFamily;
  readonly inputTokens: CounterFamily;
  readonly outputTokens: CounterFamily;
  readonly inferenceDuration: HistogramFamily;
  readonly providerFirstChunk: HistogramFamily;
  readonly clientFirstChunk: HistogramFamily;
  readonly queueWait: HistogramFamily;
  readonly acquireWait: HistogramFamily;
  readonly backoff: HistogramFamily;
  readonly serverDuration: HistogramFamily;

  constructor(registry: MetricRegistry) {
    this.requests = registry.counter(METRICS.requests);
    this.attempts = registry.counter(METRICS.attempts);
    this.unsent = registry.counter(METRICS.unsent);
    this.throttled = registry.counter(METRICS.throttled);
    this.retries = registry.counter(METRICS.retries);
    this.resumes = registry.counter(METRICS.resumes);
    this.refunds = registry.counter(METRICS.refunds);
    this.tokensReserved = registry.counter(METRICS.tokensReserved);
    this.tokensRefunded = registry.counter(METRICS.tokensRefunded);
    this.tokensOverdrawn = registry.counter(METRICS.tokensOverdrawn);
    this.quotaTokens = registry.counter(METRICS.quotaTokens);
    this.costUsd = registry.counter(METRICS.costUsd);
    this.inputTokens = registry.counter(METRICS.inputTokens);
    this.outputTokens = registry.counter(METRICS.outputTokens);
    this.inferenceDuration = registry.histogram(METRICS.inferenceDuration);
    this.providerFirstChunk = registry.histogram(METRICS.providerFirstChunk);
    this.clientFirstChunk = registry.histogram(METRICS.clientFirstChunk);
    this.queueWait = registry.histogram(METRICS.queueWait);
    this.acquireWait = registry.histogram(METRICS.acquireWait);
    this.backoff = registry.histogram(METRICS.backoff);
    this.serverDuration = registry.histogram(METRICS.serverDuration);
  }

  /**
   * Makes the series of what is configured at zero: the first increment of a series that was not there before is
   * invisible to `rate` and `increase`. Bounded, so that a large configuration does not fill the store with zeros.
   */
  zero(configured: ConfiguredLabels): void {
    const callers = configured.teams.map(({ id, templates }) => ({ id, templates: ['none', ...templates] }));
    for (const { id: account, provider, models } of configured.accounts) {
      for (const { name: model } of models) {
        for (const outcome of ATTEMPT_OUTCOMES) touch(this.attempts, [provider, model, account, outcome]);
        for (const { id: team, templates } of callers) {
          for (const template of templates) {
            touch(this.quotaTokens, [provider, model, team, template]);
            for (const kind of THROTTLE_KINDS)
              touch(this.throttled, [provider, model, account, team, template, kind]);
          }
        }
      }
    }
    for (const model of configured.routes)
      for (const { id: team, templates } of callers)
        for (const template of templates)
          for (const outcome of OUTCOMES) touch(this.requests, [model, team, template, 'normal', outcome]);
  }
}

function touch(family: CounterFamily, labels: readonly string[]): void {
  if (family.size < ZERO_SERIES_LIMIT) family.at(...labels);
}
