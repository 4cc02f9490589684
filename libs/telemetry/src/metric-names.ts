import { ATTRIBUTES as A } from './names.js';

/** One metric: everything that a reader, a dashboard or an alert may rely on. */
export interface MetricDescription {
  /** OpenTelemetry name; see `prometheusName` for what Prometheus calls it. */
  readonly name: string;
  readonly type: 'counter' | 'histogram' | 'gauge';
  /** UCUM; units in braces only annotate and leave no suffix. */
  readonly unit: string;
  readonly description: string;
  /** Attribute names, in the order in which series are addressed. */
  readonly labels: readonly string[];
  /** Upper bounds, inclusive, of a histogram. */
  readonly buckets?: readonly number[];
}

/** Waits, in seconds. */
const WAIT_BUCKETS = [0, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
/** Durations of model calls, in seconds: GenAI convention's powers of two, carried on to ten minutes. */
const CALL_BUCKETS = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 300, 600,
];
/** `http.server.request.duration`'s advised buckets, carried on to ten minutes. */
const HTTP_BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60, 120, 300, 600,
];

const IN_MODEL = [A.provider, A.requestModel] as const;
const OF_ACCOUNT = [A.provider, A.requestModel, A.account] as const;
const BURNER = [A.provider, A.requestModel, A.team, A.promptName] as const;

/** Every metric of the gateway. Tests compare dashboards, rules and docs with this table. */
export const METRICS = {
  requests: {
    name: 'weir.requests',
    type: 'counter',
    unit: '{request}',
    description: 'Requests of callers by final outcome.',
    labels: [A.requestModel, A.team, A.promptName, A.priority, A.outcome],
  },
  attempts: {
    name: 'weir.upstream.attempts',
    type: 'counter',
    unit: '{attempt}',
    description: 'Calls that reached a provider, by outcome. Throttled means an effective status of 429.',
    labels: [...OF_ACCOUNT, A.attemptOutcome],
  },
  unsent: {
    name: 'weir.upstream.unsent',
    type: 'counter',
    unit: '{attempt}',
    description: 'Attempts that ended before a byte left for the provider.',
    labels: [...OF_ACCOUNT, A.attemptOutcome],
  },
  throttled: {
    name: 'weir.upstream.throttled',
    type: 'counter',
    unit: '{response}',
    description: 'Upstream 429s by what they were about.',
    labels: [...OF_ACCOUNT, A.team, A.promptName, A.throttleKind],
  },
  retries: {
    name: 'weir.retries',
    type: 'counter',
    unit: '{retry}',
    description: 'Retry decisions; result recovered counts requests that came good after a retry.',
    labels: [...IN_MODEL, A.retryReason, A.retryResult],
  },
  resumes: {
    name: 'weir.stream.resumes',
    type: 'counter',
    unit: '{resume}',
    description: 'Attempts to make a stream good that broke behind the commit point, by what became of them.',
    labels: [A.requestModel, A.resumeResult],
  },
  refunds: {
    name: 'weir.refunds',
    type: 'counter',
    unit: '{refund}',
    description: 'Refunds: room given back by the ending of a permit.',
    labels: [A.requestModel, A.bucket, A.refundReason],
  },
  tokensReserved: {
    name: 'weir.tokens.reserved',
    type: 'counter',
    unit: '{token}',
    description: 'Tokens that permits took when they were granted.',
    labels: [A.requestModel, A.team],
  },
  tokensRefunded: {
    name: 'weir.tokens.refunded',
    type: 'counter',
    unit: '{token}',
    description: 'Reserved tokens that were given back.',
    labels: [A.requestModel, A.team, A.refundReason],
  },
  tokensOverdrawn: {
    name: 'weir.tokens.overdrawn',
    type: 'counter',
    unit: '{token}',
    description: 'Tokens used beyond the reservation.',
    labels: [A.requestModel, A.team],
  },
  quotaTokens: {
    name: 'weir.quota.tokens',
    type: 'counter',
    unit: '{token}',
    description: 'Tokens charged to the quota of the provider after settlement.',
    labels: BURNER,
  },
  costUsd: {
    name: 'weir.cost.usd',
    type: 'counter',
    unit: '{USD}',
    description: 'Cost by the configured prices, in US dollars.',
    labels: BURNER,
  },
  inputTokens: {
    name: 'gen_ai.client.inference.usage.input_tokens',
    type: 'counter',
    unit: '{token}',
    description: 'Prompt tokens of completed answers, as the provider counted them.',
    labels: [...IN_MODEL, A.operation, A.tokenModality],
  },
  outputTokens: {
    name: 'gen_ai.client.inference.usage.output_tokens',
    type: 'counter',
    unit: '{token}',
    description: 'Completion tokens of completed answers, as the provider counted them.',
    labels: [...IN_MODEL, A.operation, A.tokenModality],
  },
  inferenceDuration: {
    name: 'gen_ai.client.inference.duration',
    type: 'histogram',
    unit: 's',
    description: 'Duration of one attempt, from its start to its last byte.',
    labels: [...IN_MODEL, A.operation, A.errorType],
    buckets: CALL_BUCKETS,
  },
  providerFirstChunk: {
    name: 'gen_ai.client.inference.time_to_first_chunk',
    type: 'histogram',
    unit: 's',
    description: 'From the start of a streaming attempt to its first visible frame.',
    labels: IN_MODEL,
    buckets: CALL_BUCKETS,
  },
  clientFirstChunk: {
    name: 'weir.time_to_first_chunk',
    type: 'histogram',
    unit: 's',
    description: 'From the arrival of a request to its first frame, waits and retries included.',
    labels: [A.requestModel, A.priority],
    buckets: CALL_BUCKETS,
  },
  queueWait: {
    name: 'weir.queue.wait.duration',
    type: 'histogram',
    unit: 's',
    description: 'Wait of one attempt from being next in its conversation to its permit.',
    labels: [A.requestModel, A.priority, A.waitResult],
    buckets: WAIT_BUCKETS,
  },
  acquireWait: {
    name: 'weir.acquire.wait.duration',
    type: 'histogram',
    unit: 's',
    description: 'The same wait by the dimension that was the last to have room.',
    labels: [A.requestModel, A.bucket, A.waitResult],
    buckets: WAIT_BUCKETS,
  },
  backoff: {
    name: 'weir.retry.backoff.duration',
    type: 'histogram',
    unit: 's',
    description: 'Backoff before a retry; 0 where a paused quota does the waiting.',
    labels: IN_MODEL,
    buckets: WAIT_BUCKETS,
  },
  serverDuration: {
    name: 'http.server.request.duration',
    type: 'histogram',
    unit: 's',
    description: 'Duration of HTTP server requests.',
    labels: [A.httpRoute, A.httpStatus],
    buckets: HTTP_BUCKETS,
  },
  queueDepth: {
    name: 'weir.queue.depth',
    type: 'gauge',
    unit: '{request}',
    description: 'Requests that wait for a permit.',
    labels: [A.requestModel, A.priority],
  },
  queueOldest: {
    name: 'weir.queue.oldest.age',
    type: 'gauge',
    unit: 's',
    description: 'Age of the oldest waiting request.',
    labels: [A.requestModel, A.priority],
  },
  inflight: {
    name: 'weir.inflight',
    type: 'gauge',
    unit: '{request}',
    description: 'Permits that are out.',
    labels: [A.requestModel, A.priority],
  },
  bucketLimit: {
    name: 'weir.bucket.limit',
    type: 'gauge',
    unit: '',
    description: 'Limit of a dimension. Shared in Redis: take the maximum over replicas, never the sum.',
    labels: [...OF_ACCOUNT, A.team, A.bucket],
  },
  bucketLevel: {
    name: 'weir.bucket.level',
    type: 'gauge',
    unit: '',
    description: 'What a dimension could grant at this instant.',
    labels: [...OF_ACCOUNT, A.team, A.bucket],
  },
  bucketPaused: {
    name: 'weir.bucket.paused',
    type: 'gauge',
    unit: 's',
    description: 'Time until a dimension that a 429 paused grants again.',
    labels: [...OF_ACCOUNT, A.team, A.bucket],
  },
  bucketShape: {
    name: 'weir.bucket.shape',
    type: 'gauge',
    unit: '',
    description: '1 for the declared or learned shape of a dimension, 0 for a while for one that it had.',
    labels: [...OF_ACCOUNT, A.team, A.bucket, A.shape],
  },
  breakerState: {
    name: 'weir.breaker.state',
    type: 'gauge',
    unit: '',
    description: 'Circuit breakers as a state set: 1 for the state that is, 0 for the others.',
    labels: [...OF_ACCOUNT, A.breakerState],
  },
  accountParked: {
    name: 'weir.account.parked',
    type: 'gauge',
    unit: '',
    description:
      '1 for accounts and models that are not called (spent quotas, refused keys), 0 for a while once they are again.',
    labels: [...OF_ACCOUNT, A.parkedReason],
  },
  providerRemaining: {
    name: 'weir.provider.remaining',
    type: 'gauge',
    unit: '',
    description: 'The last remaining count that a header of the provider told.',
    labels: [...OF_ACCOUNT, A.bucket],
  },
  eventLoopUtilization: {
    name: 'nodejs.eventloop.utilization',
    type: 'gauge',
    unit: '1',
    description: 'Share of the last ten seconds or more in which the event loop was busy.',
    labels: [],
  },
  eventLoopDelay: {
    name: 'nodejs.eventloop.delay.p99',
    type: 'gauge',
    unit: 's',
    description: 'Time between two ticks of 10 ms of the event loop, which 99 of 100 do not exceed.',
    labels: [],
  },
} as const satisfies Record<string, MetricDescription>;

/** What a unit adds to a Prometheus name, as the collector's translation does it (UnderscoreEscapingWithSuffixes). */
const UNIT_SUFFIXES: Readonly<Record<string, string>> = { s: 'seconds', ms: 'milliseconds', By: 'bytes' };

/** An attribute's name as a Prometheus label. */
export function prometheusLabel(attribute: string): string {
  return attribute.replace(/[^a-zA-Z0-9_]/g, '_');
}

/** The name that the collector's Prometheus exporter gives to a metric. */
export function prometheusName(metric: Pick<MetricDescription, 'name' | 'type' | 'unit'>): string {
  const words = metric.name.split(/[^a-zA-Z0-9]+/).filter((word) => word !== '');
  const unit = UNIT_SUFFIXES[metric.unit];
  if (unit !== undefined && !words.includes(unit)) words.push(unit);
  if (metric.type === 'gauge' && metric.unit === '1') words.push('ratio');
  if (metric.type !== 'counter') return words.join('_');
  return [...words.filter((word) => word !== 'total'), 'total'].join('_');
}
