import { METRICS, prometheusLabel, prometheusName } from './metric-names.js';

describe('names', () => {
  it.each([
    ['weir.requests', 'counter', '{request}', 'weir_requests_total'],
    ['weir.queue.wait.duration', 'histogram', 's', 'weir_queue_wait_duration_seconds'],
    ['weir.cost.usd', 'counter', '{USD}', 'weir_cost_usd_total'],
    ['weir.bucket.level', 'gauge', '', 'weir_bucket_level'],
    ['weir.share', 'gauge', '1', 'weir_share_ratio'],
    ['some.bytes', 'counter', 'By', 'some_bytes_total'],
    ['some.total', 'counter', '', 'some_total'],
  ] as const)('%s (%s, %s) is %s', (name, type, unit, expected) => {
    expect(prometheusName({ name, type, unit })).toBe(expected);
  });

  it('are unique, described, and addressed by as many labels as they have', () => {
    const all = Object.values(METRICS);
    expect(new Set(all.map((metric) => prometheusName(metric))).size).toBe(all.length);
    for (const metric of all) {
      expect(metric.description).not.toBe('');
      expect(new Set(metric.labels.map(prometheusLabel)).size).toBe(metric.labels.length);
      expect('buckets' in metric).toBe(metric.type === 'histogram');
    }
  });
});

const [P, M, A, T, N] = [
  'gen_ai_provider_name',
  'gen_ai_request_model',
  'weir_account',
  'weir_team',
  'gen_ai_prompt_name',
];
const DIMENSION = [P, M, A, T, 'weir_bucket'];

/** What dashboards, alerts and people's own queries rely on: renaming any of it breaks somebody. */
const PROMISED: readonly (readonly [string, string, readonly (string | undefined)[]])[] = [
  ['weir_requests_total', 'counter', [M, T, N, 'weir_priority', 'weir_outcome']],
  ['weir_upstream_attempts_total', 'counter', [P, M, A, 'weir_attempt_outcome']],
  ['weir_upstream_unsent_total', 'counter', [P, M, A, 'weir_attempt_outcome']],
  ['weir_upstream_throttled_total', 'counter', [P, M, A, T, N, 'weir_throttle_kind']],
  ['weir_retries_total', 'counter', [P, M, 'weir_retry_reason', 'weir_retry_result']],
  ['weir_stream_resumes_total', 'counter', [M, 'weir_resume_result']],
  ['weir_refunds_total', 'counter', [M, 'weir_bucket', 'weir_refund_reason']],
  ['weir_tokens_reserved_total', 'counter', [M, T]],
  ['weir_tokens_refunded_total', 'counter', [M, T, 'weir_refund_reason']],
  ['weir_tokens_overdrawn_total', 'counter', [M, T]],
  ['weir_quota_tokens_total', 'counter', [P, M, T, N]],
  ['weir_cost_usd_total', 'counter', [P, M, T, N]],
  ...['input', 'output'].map(
    (side) =>
      [
        `gen_ai_client_inference_usage_${side}_tokens_total`,
        'counter',
        [P, M, 'gen_ai_operation_name', 'gen_ai_token_modality'],
      ] as const,
  ),
  ['gen_ai_client_inference_duration_seconds', 'histogram', [P, M, 'gen_ai_operation_name', 'error_type']],
  ['gen_ai_client_inference_time_to_first_chunk_seconds', 'histogram', [P, M]],
  ['weir_time_to_first_chunk_seconds', 'histogram', [M, 'weir_priority']],
  ['weir_queue_wait_duration_seconds', 'histogram', [M, 'weir_priority', 'weir_wait_result']],
  ['weir_acquire_wait_duration_seconds', 'histogram', [M, 'weir_bucket', 'weir_wait_result']],
  ['weir_retry_backoff_duration_seconds', 'histogram', [P, M]],
  ['http_server_request_duration_seconds', 'histogram', ['http_route', 'http_response_status_code']],
  ['weir_queue_depth', 'gauge', [M, 'weir_priority']],
  ['weir_queue_oldest_age_seconds', 'gauge', [M, 'weir_priority']],
  ['weir_inflight', 'gauge', [M, 'weir_priority']],
  ['weir_bucket_limit', 'gauge', DIMENSION],
  ['weir_bucket_level', 'gauge', DIMENSION],
  ['weir_bucket_paused_seconds', 'gauge', DIMENSION],
  ['weir_bucket_shape', 'gauge', [...DIMENSION, 'weir_shape']],
  ['weir_breaker_state', 'gauge', [P, M, A, 'weir_breaker_state']],
  ['weir_account_parked', 'gauge', [P, M, A, 'weir_parked_reason']],
  ['weir_provider_remaining', 'gauge', [P, M, A, 'weir_bucket']],
  ['nodejs_eventloop_utilization_ratio', 'gauge', []],
  ['nodejs_eventloop_delay_p99_seconds', 'gauge', []],
];

describe('metrics', () => {
  it('have the names, types and labels that others rely on', () => {
    const all = Object.values(METRICS).map((metric) => [
      prometheusName(metric),
      metric.type,
      metric.labels.map(prometheusLabel),
    ]);
    expect(all).toEqual(PROMISED);
  });

  it('measure waits from nothing to two minutes, and calls to ten', () => {
    const waits = [0, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
    for (const metric of [METRICS.queueWait, METRICS.acquireWait]) expect(metric.buckets).toEqual(waits);
    for (const metric of [METRICS.inferenceDuration, METRICS.serverDuration])
      expect(metric.buckets.at(-1)).toBe(600);
  });
});
