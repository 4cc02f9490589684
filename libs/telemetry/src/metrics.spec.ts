import { SpanKind } from '@opentelemetry/api';
import { emptyResource } from '@opentelemetry/resources';
import { seededRandom, type CallIdentity } from '@weir/kernel';
import type { LimiterStatus } from '@weir/limiter';
import { FakeClock } from '@weir/testing';
import { Instruments } from './instruments.js';
import { LabelGuard, type ConfiguredLabels } from './label-guard.js';
import { LimiterMetrics } from './limiter-metrics.js';
import { MetricRegistry } from './metric-registry.js';
import { prometheusText } from './prometheus-text.js';
import { SpanMetrics } from './span-metrics.js';
import { SpanRecorder } from './span-recorder.js';

const LABELS: ConfiguredLabels = {
  accounts: [{ id: 'main', provider: 'openai', models: [{ name: 'm1' }] }],
  routes: ['chat'],
  teams: [{ id: 'search', templates: ['faq'] }],
};
const IDENTITY = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': 'openai',
  'gen_ai.request.model': 'm1',
  'weir.account': 'main',
  'weir.team': 'search',
  'gen_ai.prompt.name': 'faq',
  'weir.priority': 'normal',
};
const CALL: CallIdentity = {
  requestId: 'r',
  team: 'search',
  model: 'chat',
  operation: 'chat',
  template: 'faq',
  priority: 'normal',
};

function setUp(exportRatio = 0, seriesLimit?: number, templateLimit?: number) {
  const clock = new FakeClock();
  const scope = { name: 'test' };
  const registry = new MetricRegistry(clock, emptyResource(), scope, seriesLimit);
  const instruments = new Instruments(registry);
  const guard = new LabelGuard(LABELS, templateLimit);
  const accounts = new Map(LABELS.accounts.map((account) => [account.id, account]));
  const limiter = new LimiterMetrics({ registry, instruments, guard, accounts, clock });
  const recorder = new SpanRecorder({
    clock,
    random: seededRandom(1),
    sinks: [new SpanMetrics(instruments, guard)],
    exportRatio,
  });
  const text = async (): Promise<string> => prometheusText((await registry.collect()).resourceMetrics);
  const lines = async (prefix: string): Promise<string[]> =>
    (await text()).split('\n').filter((line) => line.startsWith(prefix));
  const span = (
    name: string,
    attributes: Record<string, unknown>,
    ms = 0,
    kind = SpanKind.INTERNAL,
  ): void => {
    recorder
      .start(name, { parent: undefined, kind, shared: { ...IDENTITY, ...attributes }, at: 0 })
      .endAt(ms);
  };
  return { clock, instruments, limiter, span, text, lines };
}

const AT = 'gen_ai_provider_name="openai",gen_ai_request_model="m1"';

describe('spans to metrics', () => {
  it('counts an attempt that came whole, though its trace is not exported', async () => {
    const { span, lines } = setUp(0);
    const whole = { 'weir.attempt.number': 1, 'weir.attempt.outcome': 'ok', 'weir.cost.usd': 0.25 };
    span(
      'chat m1',
      { ...whole, 'gen_ai.usage.input_tokens': 40, 'gen_ai.usage.output_tokens': 7 },
      30,
      SpanKind.CLIENT,
    );
    expect(await lines('weir_upstream')).toEqual([
      `weir_upstream_attempts_total{${AT},weir_account="main",weir_attempt_outcome="ok"} 1`,
    ]);
    expect(await lines('gen_ai_client_inference_usage')).toEqual([
      `gen_ai_client_inference_usage_input_tokens_total{${AT},gen_ai_operation_name="chat",gen_ai_token_modality="text"} 40`,
      `gen_ai_client_inference_usage_output_tokens_total{${AT},gen_ai_operation_name="chat",gen_ai_token_modality="text"} 7`,
    ]);
    expect(await lines('weir_cost')).toEqual([
      `weir_cost_usd_total{${AT},weir_team="search",gen_ai_prompt_name="faq"} 0.25`,
    ]);
    expect(await lines('gen_ai_client_inference_duration_seconds_count')).toEqual([
      `gen_ai_client_inference_duration_seconds_count{${AT},gen_ai_operation_name="chat"} 1`,
    ]);
  });

  it('counts tokens of whole answers only, unsent attempts apart, and the kind of each 429', async () => {
    const { span, lines } = setUp();
    const first = { 'weir.attempt.number': 1 };
    span(
      'chat m1',
      { ...first, 'weir.attempt.outcome': 'cancelled', 'gen_ai.usage.input_tokens': 40 },
      1,
      SpanKind.CLIENT,
    );
    span(
      'chat m1',
      { ...first, 'weir.attempt.outcome': 'error', 'weir.attempt.sent': false },
      1,
      SpanKind.CLIENT,
    );
    const kind = { 'weir.attempt.outcome': 'throttled', 'weir.throttle.kind': 'tokens' };
    span('chat m1', { ...first, ...kind }, 1, SpanKind.CLIENT);
    span('chat m1', { ...first, ...kind }, 1, SpanKind.CLIENT);
    expect(await lines('weir_upstream')).toEqual([
      `weir_upstream_attempts_total{${AT},weir_account="main",weir_attempt_outcome="cancelled"} 1`,
      `weir_upstream_attempts_total{${AT},weir_account="main",weir_attempt_outcome="throttled"} 2`,
      `weir_upstream_unsent_total{${AT},weir_account="main",weir_attempt_outcome="error"} 1`,
      `weir_upstream_throttled_total{${AT},weir_account="main",weir_team="search",gen_ai_prompt_name="faq",weir_throttle_kind="tokens"} 2`,
    ]);
    expect(await lines('gen_ai_client_inference_usage')).toEqual([]);
  });

  it('counts requests by outcome and measures them by route', async () => {
    const { span, lines } = setUp();
    const ended = { 'gen_ai.request.model': 'chat', 'http.route': '/v1/x', 'http.response.status_code': 200 };
    span(
      'POST /v1/x',
      { ...ended, 'weir.outcome': 'ok', 'weir.time_to_first_chunk': 0.5 },
      700,
      SpanKind.SERVER,
    );
    span(
      'GET /v1/models',
      { 'http.route': '/v1/models', 'http.response.status_code': 200 },
      1,
      SpanKind.SERVER,
    );
    expect(await lines('weir_requests')).toEqual([
      'weir_requests_total{gen_ai_request_model="chat",weir_team="search",gen_ai_prompt_name="faq",weir_priority="normal",weir_outcome="ok"} 1',
    ]);
    expect(await lines('http_server_request_duration_seconds_count')).toEqual([
      'http_server_request_duration_seconds_count{http_route="/v1/x",http_response_status_code="200"} 1',
      'http_server_request_duration_seconds_count{http_route="/v1/models",http_response_status_code="200"} 1',
    ]);
    expect(await lines('weir_time_to_first_chunk_seconds_sum')).toEqual([
      'weir_time_to_first_chunk_seconds_sum{gen_ai_request_model="chat",weir_priority="normal"} 0.5',
    ]);
  });

  it('sums waits, reservations, refunds and retries', async () => {
    const { span, lines } = setUp();
    span('weir.queue.wait', { 'weir.wait.result': 'granted' }, 30);
    span('weir.acquire', {
      'weir.wait.result': 'granted',
      'weir.bucket': 'rpm',
      'weir.tokens.requested': 150,
    });
    span('weir.acquire', {
      'weir.wait.result': 'cancelled',
      'weir.bucket': 'none',
      'weir.tokens.requested': 99,
    });
    span('weir.refund', {
      'weir.refund.reason': 'overestimate',
      'weir.bucket': 'tpm',
      'weir.tokens.refunded': 60,
    });
    span('weir.refund', { 'weir.refund.reason': 'cancelled', 'weir.bucket': 'rpm' });
    span('weir.retry', { 'weir.retry.reason': 'transient', 'weir.retry.result': 'scheduled' }, 250);
    span('weir.retry', { 'weir.retry.reason': 'transient', 'weir.retry.result': 'exhausted' });
    const again = { 'weir.attempt.number': 2, 'weir.retry.reason': 'transient' };
    span('chat m1', { ...again, 'weir.attempt.outcome': 'ok' }, 1, SpanKind.CLIENT);

    expect(await lines('weir_tokens')).toEqual([
      'weir_tokens_reserved_total{gen_ai_request_model="m1",weir_team="search"} 150',
      'weir_tokens_refunded_total{gen_ai_request_model="m1",weir_team="search",weir_refund_reason="overestimate"} 60',
    ]);
    expect(await lines('weir_refunds')).toEqual([
      'weir_refunds_total{gen_ai_request_model="m1",weir_bucket="tpm",weir_refund_reason="overestimate"} 1',
      'weir_refunds_total{gen_ai_request_model="m1",weir_bucket="rpm",weir_refund_reason="cancelled"} 1',
    ]);
    expect(await lines('weir_retries')).toEqual(
      ['scheduled', 'exhausted', 'recovered'].map(
        (result) => `weir_retries_total{${AT},weir_retry_reason="transient",weir_retry_result="${result}"} 1`,
      ),
    );
    expect(await lines('weir_retry_backoff_duration_seconds_sum')).toEqual([
      `weir_retry_backoff_duration_seconds_sum{${AT}} 0.25`,
    ]);
    const wait = 'gen_ai_request_model="m1",weir_priority="normal",weir_wait_result="granted"';
    expect((await lines('weir_queue_wait_duration_seconds')).slice(0, 6)).toEqual([
      `weir_queue_wait_duration_seconds_bucket{${wait},le="0"} 0`,
      `weir_queue_wait_duration_seconds_bucket{${wait},le="0.005"} 0`,
      `weir_queue_wait_duration_seconds_bucket{${wait},le="0.01"} 0`,
      `weir_queue_wait_duration_seconds_bucket{${wait},le="0.025"} 0`,
      `weir_queue_wait_duration_seconds_bucket{${wait},le="0.05"} 1`,
      `weir_queue_wait_duration_seconds_bucket{${wait},le="0.1"} 1`,
    ]);
    expect((await lines('weir_queue_wait_duration_seconds')).slice(-3)).toEqual([
      `weir_queue_wait_duration_seconds_bucket{${wait},le="+Inf"} 1`,
      `weir_queue_wait_duration_seconds_sum{${wait}} 0.03`,
      `weir_queue_wait_duration_seconds_count{${wait}} 1`,
    ]);
  });
});

describe('limiter metrics', () => {
  const status: LimiterStatus = {
    waiting: 0,
    open: 0,
    draining: false,
    flows: [],
    dimensions: [
      dimension({
        id: 'main/tpm',
        scope: 'account',
        account: 'main',
        unit: 'tokens',
        limit: 1000,
        room: 400,
      }),
      dimension({
        id: 'main/m1/rpm',
        scope: 'model',
        account: 'main',
        model: 'm1',
        unit: 'requests',
        limit: 60,
        pausedForMs: 1500,
        shape: 'sliding',
      }),
      dimension({ id: 'search/tpm', scope: 'team', team: 'search', unit: 'tokens', limit: 300 }),
      dimension({
        id: 'main/m1/rpm/declared',
        scope: 'model',
        account: 'main',
        model: 'm1',
        unit: 'requests',
        limit: 90,
      }),
      dimension({ id: 'free', scope: 'account', account: 'main', unit: 'slots', limit: Infinity }),
    ],
  };

  function dimension(
    some: Partial<LimiterStatus['dimensions'][number]>,
  ): LimiterStatus['dimensions'][number] {
    return {
      id: 'x',
      scope: 'account',
      unit: 'requests',
      limit: 0,
      room: 0,
      used: 0,
      pausedForMs: 0,
      ...some,
    };
  }

  it('shows limit, level, pause and shape of each dimension that has a limit', async () => {
    const { limiter, lines } = setUp();
    limiter.watch(() => status);
    const account =
      'gen_ai_provider_name="openai",gen_ai_request_model="*",weir_account="main",weir_bucket="tpm"';
    const model =
      'gen_ai_provider_name="openai",gen_ai_request_model="m1",weir_account="main",weir_bucket="rpm"';
    const team = 'gen_ai_request_model="*",weir_team="search",weir_bucket="team_tpm"';
    expect(await lines('weir_bucket_limit{')).toEqual([
      `weir_bucket_limit{${account}} 1000`,
      `weir_bucket_limit{${model}} 60`,
      `weir_bucket_limit{${team}} 300`,
    ]);
    expect((await lines('weir_bucket_level{'))[0]).toBe(`weir_bucket_level{${account}} 400`);
    expect((await lines('weir_bucket_paused_seconds{'))[1]).toBe(`weir_bucket_paused_seconds{${model}} 1.5`);
    expect(await lines('weir_bucket_shape{')).toEqual([`weir_bucket_shape{${model},weir_shape="sliding"} 1`]);
    const learned = { ...status, dimensions: [{ ...status.dimensions[1]!, shape: 'unknown: spaced cells' }] };
    limiter.watch(() => learned);
    expect(await lines('weir_bucket_shape{')).toEqual([
      `weir_bucket_shape{${model},weir_shape="unknown: spaced cells"} 1`,
      `weir_bucket_shape{${model},weir_shape="sliding"} 0`,
    ]);
  });

  it('counts who waits and who runs, and how old the oldest is', async () => {
    const { clock, limiter, lines } = setUp();
    const target = { account: 'main', model: 'm1' };
    const first = limiter.waits(target, CALL, 0);
    limiter.waits(target, CALL, 400);
    const running = limiter.holds(target, CALL, 0);
    clock.jump(1000);
    const at = '{gen_ai_request_model="m1",weir_priority="normal"}';
    expect(await lines('weir_queue_depth{')).toEqual([`weir_queue_depth${at} 2`]);
    expect(await lines('weir_queue_oldest_age_seconds{')).toEqual([`weir_queue_oldest_age_seconds${at} 1`]);
    expect(await lines('weir_inflight{')).toEqual([`weir_inflight${at} 1`]);
    for (let twice = 0; twice < 2; twice += 1) {
      first.leave();
      running.leave();
    }
    expect(await lines('weir_queue_depth{')).toEqual([`weir_queue_depth${at} 1`]);
    expect(await lines('weir_queue_oldest_age_seconds{')).toEqual([`weir_queue_oldest_age_seconds${at} 0.6`]);
    expect(await lines('weir_inflight{')).toEqual([`weir_inflight${at} 0`]);
  });

  it('adds up what permits were charged, so that reserved - refunded + overdrawn = charged', async () => {
    const { limiter, lines } = setUp();
    const target = { account: 'main', model: 'm1' };
    limiter.charged(target, CALL, {
      kind: 'settled',
      reservedTokens: 100,
      chargedTokens: 130,
      refunds: [],
    });
    limiter.charged(target, CALL, { kind: 'settled', reservedTokens: 100, chargedTokens: 90, refunds: [] });
    expect(await lines('weir_quota_tokens')).toEqual([
      `weir_quota_tokens_total{${AT},weir_team="search",gen_ai_prompt_name="faq"} 220`,
    ]);
    expect(await lines('weir_tokens_overdrawn')).toEqual([
      'weir_tokens_overdrawn_total{gen_ai_request_model="m1",weir_team="search"} 30',
    ]);
  });

  it('shows what the provider said last', async () => {
    const { limiter, lines } = setUp();
    limiter.observed({ account: 'main', model: 'm1' }, { remainingRequests: 5, remainingTokens: 900 });
    limiter.observed({ account: 'main', model: 'm1' }, { remainingRequests: 4 });
    expect(await lines('weir_provider_remaining{')).toEqual([
      `weir_provider_remaining{${AT},weir_account="main",weir_bucket="rpm"} 4`,
      `weir_provider_remaining{${AT},weir_account="main",weir_bucket="tpm"} 900`,
    ]);
  });
});

describe('labels', () => {
  it('become other or unknown where nobody configured them', async () => {
    const { span, lines } = setUp(0, undefined, 2);
    for (const template of ['one', 'two', 'three', 'BAD NAME', 'one']) {
      span(
        'POST /v1/x',
        {
          'gen_ai.request.model': `junk-${template}`,
          'weir.team': 'nobody',
          'gen_ai.prompt.name': template,
          'weir.outcome': 'rejected',
        },
        1,
        SpanKind.SERVER,
      );
    }
    const counted = (template: string, count: number): string =>
      `weir_requests_total{gen_ai_request_model="other",weir_team="unknown",gen_ai_prompt_name="${template}",weir_priority="normal",weir_outcome="rejected"} ${count}`;
    expect(await lines('weir_requests')).toEqual([counted('one', 2), counted('two', 1), counted('other', 2)]);
  });

  it('are escaped', async () => {
    const { instruments, lines } = setUp();
    instruments.refunds.add(1, 'a"b\\c\nd', 'rpm', 'error');
    expect(await lines('weir_refunds')).toEqual([
      'weir_refunds_total{gen_ai_request_model="a\\"b\\\\c\\nd",weir_bucket="rpm",weir_refund_reason="error"} 1',
    ]);
  });

  it('beyond the limit of one metric are lumped together and counted', async () => {
    const { instruments, lines } = setUp(0, 2);
    for (const model of ['a', 'b', 'c', 'd', 'a']) instruments.refunds.add(1, model, 'rpm', 'error');
    expect(await lines('weir_refunds')).toEqual([
      'weir_refunds_total{gen_ai_request_model="a",weir_bucket="rpm",weir_refund_reason="error"} 2',
      'weir_refunds_total{gen_ai_request_model="b",weir_bucket="rpm",weir_refund_reason="error"} 1',
      'weir_refunds_total{otel_metric_overflow="true"} 2',
    ]);
  });
});
