import type { CounterFamily, HistogramFamily } from './metric-families.js';
import { METRICS } from './metric-names.js';
import type { MetricRegistry } from './metric-registry.js';

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
}
