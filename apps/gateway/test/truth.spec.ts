import { digestKey } from '@weir/config';
import { startSimulator, type RunningSimulator } from '../../simulator/src/simulator.module.js';
import { CollectorStandIn } from './harness/collector-stand-in.js';
import { GatewayProcess } from './harness/gateway-process.js';
import { eventually, pause } from './harness/house.js';
import { ofModel, outcomesOf, readMetrics, sumOf, type Metrics } from './harness/metrics-reading.js';
import { BODY_LIMIT, keyOf, MixedCallers, MODELS, TEAMS, TEMPLATES } from './harness/mixed-callers.js';
import { ADMIN_KEY, LEAVE_EARLY, LEAVE_STREAMS, MixedRun, REQUESTS } from './harness/mixed-run.js';
import { running, SIM_KEY, SimulatorControl, type Tally } from './harness/simulator-control.js';

jest.setTimeout(420_000);

/** Spans leave every half second. */
const EXPORT_MS = 2_000;

describe('the truth of /metrics', () => {
  const collector = new CollectorStandIn();
  let simulator: RunningSimulator;
  let sim: SimulatorControl;
  let gateway: GatewayProcess;
  let url: string;
  let callers: MixedCallers;
  let run: MixedRun;
  let metrics: Metrics;
  let ledgers: ReadonlyMap<string, Tally>;
  const configuration = (): object => ({
    accounts: [
      {
        id: 'main',
        baseUrl: `${simulator.url}/v1`,
        apiKey: SIM_KEY,
        models: Object.fromEntries(MODELS.map((model) => [model, {}])),
      },
    ],
    teams: TEAMS.map((id) => ({ id, keys: [digestKey(keyOf(id))], promptTemplates: [] })),
    server: { adminKeys: [digestKey(ADMIN_KEY)], bodyLimitBytes: BODY_LIMIT },
    queue: { delaySpreadMs: 0 },
    retry: { maxAttempts: 4, budgetRatio: 1 },
    breaker: { windowMs: 2_000, openMs: 200, maxOpenMs: 400 },
  });

  /** The sum of a family's samples whose labels contain all of these. */
  function sum(name: string, ...labels: readonly string[]): number {
    return sumOf(metrics, name, ...labels);
  }

  beforeAll(async () => {
    simulator = await startSimulator({ port: 0 });
    sim = new SimulatorControl(simulator.url);
    await collector.start();
    gateway = new GatewayProcess(
      { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, WEIR_TRACE_EXPORT_RATIO: '0.05' },
      configuration(),
    );
    url = await gateway.url();
    callers = new MixedCallers(url);
    run = new MixedRun(url, sim, callers, collector);
    await run.run();
    // Nobody asks any more: the last batches of spans leave.
    await eventually(
      () => readMetrics(url),
      (read) => sumOf(read, 'otel_sdk_processor_span_queue_size') === 0,
      20_000,
    );
    await pause(EXPORT_MS);
    metrics = await readMetrics(url);
    ledgers = new Map(
      await Promise.all(MODELS.map(async (model) => [model, await sim.ofModel(model)] as const)),
    );
  });
  afterAll(async () => {
    callers.close();
    await gateway.dispose();
    await collector.stop();
    await simulator.close();
  });

  const ledgerOf = (model: string): Tally => ledgers.get(model)!;
  const total = (read: (tally: Tally) => number): number =>
    [...ledgers.values()].reduce((all, tally) => all + read(tally), 0);

  it('is asked of a run with everything in it', () => {
    expect(callers.total).toBeGreaterThanOrEqual(REQUESTS);
    const seen = new Set([...callers.counts.keys()].map((key) => key.split(' ')[2]));
    expect([...seen].sort()).toEqual([
      'cancelled',
      'client_throttled',
      'ok',
      'queue_timeout',
      'rejected',
      'upstream_error',
      'upstream_throttled',
    ]);
    for (const kind of ['requests', 'tokens', 'concurrency', 'daily', 'fault'] as const)
      expect([kind, total(({ rejected }) => rejected[kind]) > 0]).toEqual([kind, true]);
    expect(TEMPLATES).toHaveLength(4);
  });

  it.each(MODELS)('counts attempts at %s as the ledger does', (model) => {
    const tally = ledgerOf(model);
    expect(running(tally)).toBe(0);
    expect(sum('weir_upstream_attempts_total', ofModel(model))).toBe(tally.received);
  });

  it.each(MODELS)('counts whole answers of %s and their tokens as the ledger does', (model) => {
    const { completed, tokens } = ledgerOf(model);
    expect({
      ok: sum('weir_upstream_attempts_total', ofModel(model), 'weir_attempt_outcome="ok"'),
      prompt: sum('gen_ai_client_inference_usage_input_tokens_total', ofModel(model)),
      completion: sum('gen_ai_client_inference_usage_output_tokens_total', ofModel(model)),
    }).toEqual({ ok: completed, ...tokens });
  });

  it('counts 429s by kind as the ledger does', () => {
    const kind = (name: string): number =>
      sum('weir_upstream_throttled_total', `weir_throttle_kind="${name}"`);
    expect({
      requests: kind('requests'),
      tokens: kind('tokens'),
      concurrency: kind('concurrency'),
      daily: kind('daily'),
      billing: kind('billing'),
      others: kind('overloaded') + kind('unknown'),
    }).toEqual({
      requests: total(({ rejected }) => rejected.requests) + run.scripted.throttles,
      tokens: total(({ rejected }) => rejected.tokens),
      concurrency: total(({ rejected }) => rejected.concurrency),
      daily: total(({ rejected }) => rejected.daily),
      billing: run.scripted.billing,
      others: 0,
    });
    expect(sum('weir_upstream_attempts_total', 'weir_attempt_outcome="throttled"')).toBe(
      sum('weir_upstream_throttled_total'),
    );
  });

  it('counts what failed and what was left as the ledger does', () => {
    const of = (outcome: string): number =>
      sum('weir_upstream_attempts_total', `weir_attempt_outcome="${outcome}"`);
    const throttles = run.scripted.throttles + run.scripted.billing;
    expect(of('cancelled')).toBe(LEAVE_STREAMS + LEAVE_EARLY);
    expect(of('error') + of('timeout') + of('cancelled')).toBe(
      total(({ aborted, rejected }) => aborted + rejected.fault) - throttles,
    );
  });

  it('counts the outcomes of every team and template as its callers do', () => {
    expect(outcomesOf(metrics)).toEqual(Object.fromEntries([...callers.counts].sort()));
  });

  it('gives back what was reserved and not settled', () => {
    const reserved = sum('weir_tokens_reserved_total');
    const settled = sum('weir_quota_tokens_total');
    expect(sum('weir_tokens_refunded_total') - sum('weir_tokens_overdrawn_total')).toBe(reserved - settled);
    expect(sum('weir_tokens_refunded_total')).toBeGreaterThan(0);
  });

  it('charges for streams that were left what the provider made of them, but for what was under way', () => {
    expect(run.cut.seen).toBe(run.cut.made);
    expect(Math.abs(run.cut.charged - run.cut.made)).toBeLessThanOrEqual(2 * LEAVE_STREAMS);
  });

  it('counts the spans that were lost, and every other one arrived', async () => {
    const processed = (...labels: readonly string[]): number =>
      sum('otel_sdk_processor_span_processed_total', ...labels);
    const lost = processed('error_type=');
    expect(lost).toBeGreaterThan(0);
    expect(collector.spans).toBe(processed() - lost);
  });
});
