import { emptyResource } from '@opentelemetry/resources';
import { FakeClock } from '@weir/testing';
import { Instruments } from './instruments.js';
import type { ConfiguredLabels } from './label-guard.js';
import { METRICS, prometheusName } from './metric-names.js';
import { MetricRegistry } from './metric-registry.js';
import { prometheusText } from './prometheus-text.js';
import { zeroSeries } from './zero-series.js';

const LABELS: ConfiguredLabels = {
  accounts: [
    { id: 'main', provider: 'openai', models: [{ name: 'm1' }] },
    {
      id: 'spare',
      provider: 'groq',
      models: [{ name: 'm1' }, { name: 'dear', price: { inputPerMTok: 1, outputPerMTok: 2 } }],
    },
  ],
  routes: ['chat', 'm1'],
  teams: [
    { id: 'search', templates: ['faq'] },
    { id: 'shop', templates: [] },
  ],
};

async function zeros(labels: ConfiguredLabels): Promise<readonly string[]> {
  const registry = new MetricRegistry(new FakeClock(), emptyResource(), { name: 'test' });
  zeroSeries(new Instruments(registry), labels);
  const text = prometheusText((await registry.collect()).resourceMetrics);
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  expect(samples.filter((line) => !line.endsWith(' 0'))).toEqual([]);
  return samples.map((line) => line.slice(0, -2));
}

function count(samples: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const sample of samples) {
    const name = sample.slice(0, sample.indexOf('{'));
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

describe('zero series', () => {
  it('exist for every counter, for what is configured and can come', async () => {
    const [targets, models, teams, routes] = [3, 2, 2, 2];
    // Two teams without a template, one with its own.
    const users = teams + 1;
    const counts = count(await zeros(LABELS));
    expect(counts).toEqual({
      weir_upstream_attempts_total: targets * 5,
      weir_upstream_unsent_total: targets * 3,
      // Five reasons with five results, two that only go on elsewhere.
      weir_retries_total: targets * (5 * 5 + 2 * 2),
      weir_refunds_total: models * 7,
      weir_stream_resumes_total: models * 4,
      gen_ai_client_inference_usage_input_tokens_total: targets * 2,
      gen_ai_client_inference_usage_output_tokens_total: targets * 2,
      weir_tokens_reserved_total: models * teams,
      weir_tokens_overdrawn_total: models * teams,
      weir_tokens_refunded_total: models * teams * 4,
      weir_quota_tokens_total: targets * users,
      weir_cost_usd_total: users,
      weir_upstream_throttled_total: targets * users * 7,
      // Of three priorities; and what is refused before it is understood.
      weir_requests_total: routes * users * 8 * 3 + teams + 1,
    });
    const counters = Object.values(METRICS).filter(({ type }) => type === 'counter');
    expect(Object.keys(counts).sort()).toEqual(counters.map((metric) => prometheusName(metric)).sort());
  });

  it('have the labels of the series that count', async () => {
    const samples = await zeros(LABELS);
    const at = 'gen_ai_provider_name="groq",gen_ai_request_model="dear"';
    for (const sample of [
      `weir_upstream_attempts_total{${at},weir_account="spare",weir_attempt_outcome="throttled"}`,
      `weir_upstream_unsent_total{${at},weir_account="spare",weir_attempt_outcome="cancelled"}`,
      `weir_retries_total{${at},weir_retry_reason="rate_limit_tokens",weir_retry_result="exhausted"}`,
      `weir_retries_total{${at},weir_retry_reason="auth",weir_retry_result="recovered"}`,
      'weir_refunds_total{gen_ai_request_model="dear",weir_bucket="rpm",weir_refund_reason="cancelled"}',
      'weir_stream_resumes_total{gen_ai_request_model="dear",weir_resume_result="joined"}',
      `gen_ai_client_inference_usage_input_tokens_total{${at},gen_ai_operation_name="embeddings",gen_ai_token_modality="text"}`,
      'weir_tokens_refunded_total{gen_ai_request_model="dear",weir_team="shop",weir_refund_reason="error"}',
      `weir_quota_tokens_total{${at},weir_team="search",gen_ai_prompt_name="faq"}`,
      `weir_cost_usd_total{${at},weir_team="search",gen_ai_prompt_name="faq"}`,
      `weir_upstream_throttled_total{${at},weir_account="spare",weir_team="search",gen_ai_prompt_name="faq",weir_throttle_kind="billing"}`,
      'weir_requests_total{gen_ai_request_model="chat",weir_team="shop",gen_ai_prompt_name="none",weir_priority="normal",weir_outcome="upstream_throttled"}',
      'weir_requests_total{gen_ai_request_model="m1",weir_team="search",gen_ai_prompt_name="faq",weir_priority="low",weir_outcome="ok"}',
      'weir_requests_total{gen_ai_request_model="other",weir_team="unknown",gen_ai_prompt_name="none",weir_priority="normal",weir_outcome="rejected"}',
    ])
      expect(samples).toContain(sample);
    expect(samples.filter((sample) => sample.includes('weir_team="shop",gen_ai_prompt_name="faq"'))).toEqual(
      [],
    );
  });

  it('stay bounded, however much is configured, and leave out priorities and templates before anything else', async () => {
    const teams = Array.from({ length: 600 }, (_, index) => ({ id: `t${index}`, templates: ['a', 'b'] }));
    const samples = await zeros({ ...LABELS, teams });
    for (const size of Object.values(count(samples))) expect(size).toBeLessThanOrEqual(5000);
    const quota = samples.filter((sample) => sample.startsWith('weir_quota'));
    expect(quota.filter((sample) => sample.includes('gen_ai_prompt_name="none"'))).toHaveLength(3 * 600);
    const requests = samples.filter((sample) => sample.startsWith('weir_requests'));
    expect(requests.filter((sample) => !sample.includes('weir_priority="normal"'))).toEqual([]);
  });
});
