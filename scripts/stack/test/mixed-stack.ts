import { GatewayProcess } from '../../../apps/gateway/test/harness/gateway-process.js';
import { readMetrics, sumOf, type Metrics } from '../../../apps/gateway/test/harness/metrics-reading.js';
import { MixedCallers } from '../../../apps/gateway/test/harness/mixed-callers.js';
import { mixedConfig } from '../../../apps/gateway/test/harness/mixed-config.js';
import { MixedHouse } from '../../../apps/gateway/test/harness/mixed-house.js';
import { MixedRun } from '../../../apps/gateway/test/harness/mixed-run.js';
import { SimulatorControl } from '../../../apps/gateway/test/harness/simulator-control.js';
import { CountersAt, seriesName } from '../counters-at.js';
import type { Stack } from '../stack.js';
import { until } from '../until.js';

/** From the gateway to Prometheus it takes an export and a scrape, 15 s each; the rest is for a machine that has more to do. */
const ARRIVAL_MS = 120_000;

/** Nobody else has this model. */
const OF_THIS_GATEWAY = 'weir_upstream_attempts_total{gen_ai_request_model="model-a"}';

/** A sample of ours that only grows. */
const COUNTER = /^((?:weir|gen_ai|http)_\w+_(?:total|bucket|sum|count))\{(.*)\}$/;

/** What the gateway of a mixed run says of itself, at one instant. */
export interface Reading {
  readonly requests: number;
  /** Spans that the collector took. */
  readonly delivered: number;
  readonly metrics: Metrics;
}

/** The mixed run of the gateway's own tests, with the real collector, which is killed in the middle, and Prometheus. */
export class MixedStack {
  /** When it began, in epoch seconds. */
  readonly from = Date.now() / 1000;
  /** When Prometheus had everything, in epoch seconds. */
  to = 0;
  /** When the collector was killed, in epoch seconds. */
  goneAt = 0;
  /** Before the collector was there again, and at the end. */
  readonly readings: { gone?: Reading; end?: Reading } = {};
  /** Its gateway's, as Prometheus had them then. */
  counters!: CountersAt;
  /** What Prometheus calls its gateway. */
  instance = '';

  private constructor(
    private readonly stack: Stack,
    private readonly gateway: GatewayProcess,
    private readonly url: string,
    readonly run: MixedRun,
  ) {}

  /** @param requests how many at least, in all */
  static async of(stack: Stack, requests: number): Promise<MixedStack> {
    const gateway = new GatewayProcess(
      { OTEL_EXPORTER_OTLP_ENDPOINT: stack.collectorUrl, WEIR_TRACE_EXPORT_RATIO: '0.05' },
      mixedConfig(stack.simulatorUrl),
    );
    const url = await gateway.url();
    const collector = {
      stop: (): Promise<void> => mixed.kill(),
      start: async (): Promise<void> => {
        mixed.readings.gone = await mixed.reading();
        await stack.startCollector();
      },
    };
    const house = new MixedHouse(
      url,
      new SimulatorControl(stack.simulatorUrl),
      new MixedCallers(url),
      collector,
    );
    const mixed = new MixedStack(stack, gateway, url, new MixedRun(house, requests));
    return mixed;
  }

  /** Runs it, and waits until Prometheus has everything. */
  async complete(): Promise<void> {
    await this.run.run();
    this.readings.end = await this.reading();
    await this.arrived(this.readings.end);
  }

  async close(): Promise<void> {
    this.run.callers.close();
    await this.gateway.dispose();
  }

  /** As soon as Prometheus has something that could be lost. */
  private async kill(): Promise<void> {
    const { prometheus } = this.stack;
    await until(async () => (await prometheus.total(`sum(${OF_THIS_GATEWAY})`)) > 0, ARRIVAL_MS);
    this.goneAt = Date.now() / 1000;
    await this.stack.killCollector();
  }

  private async reading(): Promise<Reading> {
    const metrics = await readMetrics(this.url);
    const processed = (...labels: string[]): number =>
      sumOf(metrics, 'otel_sdk_processor_span_processed_total', ...labels);
    return {
      requests: sumOf(metrics, 'weir_requests_total'),
      delivered: processed() - processed('error_type='),
      metrics,
    };
  }

  /**
   * Requests and spans are the last to be counted. A scrape may come while the collector takes an export, so after they are
   * there everything comes once more.
   */
  private async arrived({ requests, delivered }: Reading): Promise<void> {
    const { prometheus } = this.stack;
    // The new collector knows no gateway before the next export, nor Prometheus before the scrape after that.
    await until(async () => {
      const [found] = await prometheus.query(`count by (instance) (${OF_THIS_GATEWAY})`);
      this.instance = found?.metric['instance'] ?? '';
      return this.instance !== '';
    }, ARRIVAL_MS);
    const here = `instance="${this.instance}"`;
    const series = `weir_requests_total{${here}}`;
    const spans = `otel_sdk_processor_span_processed_total{${here},error_type=""}`;
    await until(
      async () =>
        (await prometheus.total(`sum(${series})`)) === requests &&
        (await prometheus.total(`sum(${spans})`)) === delivered,
      ARRIVAL_MS,
    );
    const seen = Date.now() / 1000;
    const scraped = `min(timestamp(${series}) or timestamp(otelcol_receiver_accepted_spans_total))`;
    await until(async () => (await prometheus.total(scraped)) > seen, ARRIVAL_MS);
    this.to = Date.now() / 1000;
    this.counters = new CountersAt(prometheus, this.instance, this.to);
  }
}

/** The counters and histograms in `/metrics`, as {@link CountersAt.everySeries} writes them. */
export function countersIn(metrics: Metrics): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const [sample, value] of metrics) {
    const [, name, labels] = COUNTER.exec(sample) ?? [];
    if (name === undefined || labels === undefined) continue;
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
    found.set(
      seriesName(
        name,
        pairs.map(([, label = '', of = '']) => [label, of] as const),
      ),
      value,
    );
  }
  return found;
}
