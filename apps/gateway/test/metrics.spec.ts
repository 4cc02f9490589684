import { eventually, House, OTHER_TEAM_KEY, question } from './harness/house.js';
import { outcomesOf } from './harness/metrics-reading.js';
import { running } from './harness/simulator-control.js';

const CALLERS = 40;

describe('/metrics after a mixed run', () => {
  let house: House;
  let metrics: ReadonlyMap<string, number>;
  let before: ReadonlyMap<string, number>;

  /** The sum of a family's samples whose labels contain all of these. */
  function sum(name: string, ...labels: readonly string[]): number {
    const samples = [...metrics].filter(
      ([sample]) =>
        (sample === name || sample.startsWith(`${name}{`)) && labels.every((label) => sample.includes(label)),
    );
    return samples.reduce((total, [, value]) => total + value, 0);
  }

  beforeAll(async () => {
    house = await House.start({
      account: { limits: { tokensPerMinute: 1_000_000, concurrency: 8 }, windowSeconds: 0.2 },
      retry: { maxAttempts: 3, budgetRatio: 1 },
    });
    before = await house.metrics();
    await house.sim.quota({ requestsPerMinute: 12, concurrency: 5, windowSeconds: 0.5 });
    await house.sim.faults(
      { times: 2, status: 500 },
      { times: 2, status: 429, headers: { 'retry-after-ms': '50' } },
      { times: 1, cutAtByte: 10 },
      { times: 1, cutAtByte: 700 },
      { times: 1, status: 400 },
    );
    await Promise.all(
      Array.from({ length: CALLERS }, (_, index) =>
        house.chat(question({ stream: index % 2 === 0 }, `q${index}`)),
      ),
    );
    await house.quiet();
    await house.spans.until('POST /v1/chat/completions', CALLERS);
    metrics = await house.metrics();
  });
  afterAll(() => house.close());

  it('counts attempts as the ledger does', async () => {
    const tally = await house.sim.total();
    expect(running(tally)).toBe(0);
    expect(sum('weir_upstream_attempts_total')).toBe(tally.received);
    expect(tally.rejected.requests + tally.rejected.concurrency).toBeGreaterThan(0);
  });

  it('counts 429s, by kind too, as the ledger does', async () => {
    const { rejected } = await house.sim.total();
    const scripted = 2;
    const throttled = rejected.requests + rejected.concurrency + rejected.tokens + scripted;
    expect(sum('weir_upstream_attempts_total', 'weir_attempt_outcome="throttled"')).toBe(throttled);
    expect(sum('weir_upstream_throttled_total')).toBe(throttled);
    expect(sum('weir_upstream_throttled_total', 'weir_throttle_kind="concurrency"')).toBe(
      rejected.concurrency,
    );
  });

  it('counts whole answers and their tokens as the ledger does', async () => {
    const { completed, aborted, tokens, rejected } = await house.sim.total();
    expect(sum('weir_upstream_attempts_total', 'weir_attempt_outcome="ok"')).toBe(completed);
    expect(sum('gen_ai_client_inference_usage_input_tokens_total')).toBe(tokens.prompt);
    expect(sum('gen_ai_client_inference_usage_output_tokens_total')).toBe(tokens.completion);
    const failed = sum('weir_upstream_attempts_total', 'weir_attempt_outcome="error"');
    expect(failed).toBe(aborted + rejected.fault - 2);
  });

  it('shows every counter at zero before its first count, which Prometheus would not see otherwise', () => {
    const counted = [...metrics].filter(([sample, value]) => /_total\{/.test(sample) && value > 0);
    expect(counted.length).toBeGreaterThan(20);
    expect(counted.filter(([sample]) => before.get(sample) !== 0)).toEqual([]);
  });

  it('counts every request once', () => {
    expect(sum('weir_requests_total')).toBe(CALLERS);
    expect(sum('weir_requests_total', 'weir_outcome="ok"')).toBeGreaterThan(0);
  });

  it('gives back what was reserved and not settled', () => {
    const reserved = sum('weir_tokens_reserved_total');
    const settled = sum('weir_quota_tokens_total');
    expect(reserved).toBeGreaterThan(settled);
    expect(sum('weir_tokens_refunded_total') - sum('weir_tokens_overdrawn_total')).toBe(reserved - settled);
    const spans = house.spans.named('weir.refund');
    const refunded = spans.reduce(
      (total, { attributes }) => total + Number(attributes['weir.tokens.refunded'] ?? 0),
      0,
    );
    expect(sum('weir_tokens_refunded_total')).toBe(refunded);
  });
});

describe('requests that are refused before they are understood', () => {
  let house: House;

  beforeAll(async () => {
    house = await House.start({ server: { bodyLimitBytes: 2000 } });
  });
  afterAll(() => house.close());

  it('count for the team whose key they carry and the template that they name', async () => {
    const asOther = { authorization: `Bearer ${OTHER_TEAM_KEY}` };
    const replies = [
      await house.chat('{ no json'),
      await house.chat(question({ model: 'nobody' }), { 'x-prompt-template': 'faq' }),
      await house.chat(question({}, 'x'.repeat(3000)), { ...asOther, 'x-prompt-template': 'long' }),
      await house.chat(question(), { ...asOther, 'x-prompt-template': 'no name at all' }),
      await house.chat(question(), { authorization: 'Bearer nobody', 'x-prompt-template': 'faq' }),
      await house.chat(question({}, 'x'.repeat(3000)), { authorization: 'Bearer nobody' }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([400, 404, 413, 400, 401, 413]);
    const total = (counts: Readonly<Record<string, number>>): number =>
      Object.values(counts).reduce((sum, count) => sum + count, 0);
    expect(
      await eventually(
        async () => outcomesOf(await house.metrics()),
        (counts) => total(counts) >= replies.length,
      ),
    ).toEqual({
      'search none rejected': 1,
      'search faq rejected': 1,
      'chat long rejected': 1,
      'chat none rejected': 1,
      'unknown none rejected': 2,
    });
  });
});
