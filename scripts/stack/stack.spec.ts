import { isDeepStrictEqual } from 'node:util';
import { SimulatorControl, type Tally } from '../../apps/gateway/test/harness/simulator-control.js';
import { truthContract } from '../../apps/gateway/test/harness/truth.contract.js';
import { COLLECTOR } from '../collector-binary.js';
import { dashboardFiles, panelsOf, resolved } from '../dashboard-files.js';
import { describeWith, PROMETHEUS } from '../needs-program.js';
import { Stack } from './stack.js';
import { countersIn, MixedStack } from './test/mixed-stack.js';
import { until } from './until.js';

const MINUTE = 60_000;
/** Of the mixed run. */
const REQUESTS = 20_000;
/** From the gateway to Prometheus: an export, a flush of the collector and a scrape, 15 s each; the rest is for a busy machine. */
const ARRIVAL_MS = 2 * MINUTE;

describeWith(PROMETHEUS, COLLECTOR)('the stack without containers', () => {
  jest.setTimeout(14 * MINUTE);
  let stack: Stack;
  let endTraffic: () => Promise<void>;

  beforeAll(async () => {
    stack = await Stack.start();
    endTraffic = stack.traffic(4, 0.12);
  });
  afterAll(async () => {
    await stack.stop();
  });

  const alert = async (name: string): Promise<string | undefined> =>
    (await stack.prometheus.rules()).find((rule) => rule.name === name)?.state;

  /** Waits for a state of the alert; fails where another comes than `meanwhile`. */
  const reaches = async (state: string, meanwhile: readonly string[], limitMs: number): Promise<void> => {
    const came = await until(async () => {
      const now = (await alert('WeirThrottled')) ?? 'missing';
      if (now !== state) expect(meanwhile).toContain(now);
      return now === state;
    }, limitMs);
    expect({ state, came }).toEqual({ state, came: true });
  };

  /** What the provider counted of the demo traffic, by the key in otel/weir.yaml. */
  const demoLedger = (): Promise<Tally> => new SimulatorControl(stack.simulatorUrl).ofKey('simulator');

  it('has the alert pending, then firing, at more than 10 % of 429s', async () => {
    await reaches('pending', ['inactive'], 4 * MINUTE);
    const share = await stack.prometheus.total('weir_upstream_attempts_throttled:ratio_rate5m');
    expect(share).toBeGreaterThan(0.05);
    expect(share).toBeLessThan(0.25);
    await reaches('firing', ['pending'], 3 * MINUTE);
  });

  it('has counted what the simulator counted, on both paths', async () => {
    await endTraffic();
    const attempts = 'weir_upstream_attempts_total';
    const failed = `${attempts}{weir_attempt_outcome=~"throttled|error"}`;
    // Those that never left have a span, too, and the simulator knows nothing of them.
    const unsent = 'sum(weir_upstream_unsent_total) or vector(0)';
    const spans = `sum(traces_span_metrics_calls_total{span_name=~"chat .*"}) - (${unsent})`;
    const counted = async (): Promise<object> => ({
      received: await stack.prometheus.total(`sum(${attempts})`),
      failed: await stack.prometheus.total(`sum(${failed})`),
      spans: await stack.prometheus.total(spans),
    });
    const expected = async (): Promise<object> => {
      const { received, rejected } = await demoLedger();
      return { received, failed: rejected.fault, spans: received };
    };
    await until(async () => isDeepStrictEqual(await counted(), await expected()), ARRIVAL_MS);
    expect((await demoLedger()).received).toBeGreaterThan(200);
    expect(await counted()).toEqual(await expected());
  });

  describe('after a mixed run whose collector was killed in its middle', () => {
    let mixed: MixedStack;

    beforeAll(async () => {
      mixed = await MixedStack.of(stack, REQUESTS);
      await mixed.complete();
    });
    afterAll(() => mixed.close());

    truthContract('Prometheus', () => mixed);

    it('has every series that the gateway has, with its value', async () => {
      const own = countersIn(mixed.readings.end!.metrics);
      expect(own.size).toBeGreaterThan(1_000);
      expect(await mixed.counters.everySeries()).toEqual(own);
    });

    it('never went back, and had values before the collector was gone', async () => {
      const of = `weir_requests_total{instance="${mixed.instance}"}`;
      expect(await stack.prometheus.total(of, mixed.goneAt)).toBeGreaterThan(0);
      expect(await stack.prometheus.total(`sum(resets(${of}[20m]))`, mixed.to)).toBe(0);
    });

    it('has the other gateway’s counters, too, though it did nothing since', async () => {
      const { received } = await demoLedger();
      const others = `sum(weir_upstream_attempts_total{instance!="${mixed.instance}"})`;
      expect(await stack.prometheus.total(others, mixed.to)).toBe(received);
    });

    it('counts the spans that were lost; every other one arrived, and was counted once more', async () => {
      const { gone, end } = mixed.readings;
      const processed = 'otel_sdk_processor_span_processed_total';
      const delivered = await mixed.counters.sum(processed, 'error_type=""');
      expect(await mixed.counters.sum(processed, 'error_type!=""')).toBeGreaterThan(0);
      expect(delivered).toBe(end!.delivered);
      // The collector's own counts begin anew; what it had before is dead with it.
      const sinceThen = delivered - gone!.delivered;
      const accepted = 'sum(otelcol_receiver_accepted_spans_total)';
      expect(await stack.prometheus.total(accepted, mixed.to)).toBe(sinceThen);
      const counted = 'sum(traces_span_metrics_calls_total)';
      await until(async () => (await stack.prometheus.total(counted)) === sinceThen, ARRIVAL_MS);
      expect(await stack.prometheus.total(counted)).toBe(sinceThen);
    });

    it('has the traces of about 5 % of the requests', async () => {
      const { counters } = mixed;
      const spans = await counters.sum('otel_sdk_processor_span_processed_total');
      // What was lost is not known by kind; it is taken to be like the rest.
      const roots = await counters.sum('traces_span_metrics_calls_total', 'span_kind="SPAN_KIND_SERVER"');
      const traces = (spans * roots) / (await counters.sum('traces_span_metrics_calls_total'));
      const share = traces / (await counters.sum('weir_requests_total'));
      expect(share).toBeGreaterThan(0.04);
      expect(share).toBeLessThan(0.06);
    });

    it('evaluates every rule without error', async () => {
      const rules = await stack.prometheus.rules();
      expect(rules.length).toBeGreaterThan(20);
      expect(rules.filter(({ health }) => health !== 'ok')).toEqual([]);
    });

    const queries = dashboardFiles().flatMap(({ name, json }) =>
      panelsOf(json).flatMap(({ id, title, targets = [] }) =>
        targets.map(({ refId, expr }) => ({ query: `${name} ${id}${refId} ${title}`, expr: resolved(expr) })),
      ),
    );

    it('has data for every query of the dashboards', async () => {
      const wrong: string[] = [];
      for (const { query, expr } of queries) {
        try {
          const values = await stack.prometheus.values(expr, mixed.from, mixed.to);
          if (!values.some(Number.isFinite)) wrong.push(`${query} is empty: ${expr}`);
        } catch (failure) {
          wrong.push(`${query}: ${String(failure)}`);
        }
      }
      expect(wrong).toEqual([]);
    });
  });

  it('resolves the alert when the 429s are over', async () => {
    await reaches('inactive', ['firing'], 8 * MINUTE);
  });
});
