import { startSimulator, type RunningSimulator } from '../../simulator/src/simulator.module.js';
import { CollectorStandIn } from './harness/collector-stand-in.js';
import { GatewayProcess } from './harness/gateway-process.js';
import { outcomesOf, readMetrics, sumOf, type Metrics } from './harness/metrics-reading.js';
import { MixedCallers } from './harness/mixed-callers.js';
import { mixedConfig } from './harness/mixed-config.js';
import { MixedHouse } from './harness/mixed-house.js';
import { MixedRun } from './harness/mixed-run.js';
import { SimulatorControl } from './harness/simulator-control.js';
import { truthContract } from './harness/truth.contract.js';

jest.setTimeout(300_000);

/** A short run, for machines without the real parts; scripts/stack asks the same of a long one through Prometheus. */
const REQUESTS = 3_000;

describe('a mixed run, with the collector gone in its middle', () => {
  const collector = new CollectorStandIn();
  let simulator: RunningSimulator;
  let gateway: GatewayProcess;
  let run: MixedRun;
  let metrics: Metrics;

  beforeAll(async () => {
    simulator = await startSimulator({ port: 0 });
    await collector.start();
    gateway = new GatewayProcess(
      { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, WEIR_TRACE_EXPORT_RATIO: '0.05' },
      mixedConfig(simulator.url),
    );
    const url = await gateway.url();
    const callers = new MixedCallers(url);
    run = new MixedRun(
      new MixedHouse(url, new SimulatorControl(simulator.url), callers, collector),
      REQUESTS,
    );
    await run.run();
    metrics = await readMetrics(url);
  });
  afterAll(async () => {
    run.callers.close();
    await gateway.dispose();
    await collector.stop();
    await simulator.close();
  });

  truthContract('/metrics', () => ({
    run,
    counters: {
      sum: async (...of) => sumOf(metrics, ...of),
      outcomes: async () => outcomesOf(metrics),
    },
  }));

  it('counts the spans that were lost, and every other one arrived', () => {
    const processed = (...labels: readonly string[]): number =>
      sumOf(metrics, 'otel_sdk_processor_span_processed_total', ...labels);
    const lost = processed('error_type=');
    expect(lost).toBeGreaterThan(0);
    expect(collector.spans).toBe(processed() - lost);
  });
});
