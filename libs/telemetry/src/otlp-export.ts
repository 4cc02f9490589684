import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import type { InstrumentationScope } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import {
  type IMetricReader,
  MeterProvider,
  MetricReader,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { sleep, type Clock, type Milliseconds, type Timers } from '@weir/kernel';
import { boundedExport, type BoundedExportOptions } from './bounded-export.js';
import { CollectorWatch, type Signal } from './collector-watch.js';
import type { Logger } from './logger.js';
import type { MetricRegistry } from './metric-registry.js';
import { prometheusText } from './prometheus-text.js';
import type { SpanBatch } from './packed-spans.js';
import { spanExporter, type SpanExporter } from './span-exporter.js';
import { SpanQueue } from './span-queue.js';
import type { SpanSink } from './span-recorder.js';

/**
 * Queue and batch at which 14,000 spans a second reach a collector 200 ms away without loss, with one export in flight
 * (measured 2026-11; the SDK's defaults lose 79 %). A slower collector costs spans, which are counted, and nothing else.
 */
const LIMITS = {
  ...{ batch: 4_096, delayMs: 500, held: 32_768 },
  /** Enough to see that it is back. */
  heldWhileDown: 2_048,
};
const EXPORT_TIMEOUT_MS: Milliseconds = 10_000;
/** How often metrics go to the collector; Prometheus scrapes it as often. */
const METRIC_INTERVAL_MS: Milliseconds = 15_000;
/** The longest that the end may take; and where the collector was dead before, which is hardly worth waiting for. */
const SHUTDOWN_MS: Milliseconds = 2_000;
const SHUTDOWN_WHILE_DOWN_MS: Milliseconds = 500;

/** Where spans and metrics leave the process. */
export interface TelemetryExport {
  readonly sinks: readonly SpanSink[];
  metricsText(): Promise<string>;
  /** Sends the metrics now, out of turn: a series must have been seen at zero before its first count. */
  announce(): void;
  /**
   * Sends what is held, and stops; never rejects. What has not arrived by then is lost, and told of.
   * @param withinMs default 2 s, half a second where the last export failed
   */
  shutdown(withinMs: Milliseconds | undefined): Promise<void>;
}

/** How to export. */
export interface ExportOptions {
  /** The longest that one export may take, retries included. Default 10 s. */
  readonly exportTimeoutMs: Milliseconds | undefined;
  /** OTLP/HTTP base, such as `http://collector:4318`; nothing is sent, or tried, without it. */
  readonly endpoint: string | undefined;
  readonly resource: Resource;
  readonly scope: InstrumentationScope;
  readonly registry: MetricRegistry;
  readonly time: Clock & Timers;
  readonly logger: Logger | undefined;
}

/** Builds the way out: metrics can always be read; spans and metrics are pushed where there is somebody to take them. */
export function openExport(options: ExportOptions): TelemetryExport {
  const { endpoint, resource, registry } = options;
  const pull = new PullReader({ metricProducers: [registry] });
  const metricsText = async (): Promise<string> => prometheusText((await pull.collect()).resourceMetrics);
  if (endpoint !== undefined) return new PushedExport(options, endpoint, pull, metricsText);
  const meters = new MeterProvider({ resource, readers: [pull] });
  return { sinks: [], metricsText, announce: () => undefined, shutdown: () => meters.shutdown() };
}

/** Spans in batches and metrics every 15 s, by OTLP over HTTP. */
class PushedExport implements TelemetryExport {
  readonly sinks: readonly SpanSink[];
  private readonly watch: CollectorWatch;
  private readonly timeoutMs: Milliseconds;
  private readonly metrics: PeriodicExportingMetricReader;
  private readonly meters: MeterProvider;
  private readonly spanExporter: SpanExporter;
  private readonly spans: SpanQueue;

  constructor(
    private readonly options: ExportOptions,
    private readonly endpoint: string,
    pull: IMetricReader,
    readonly metricsText: () => Promise<string>,
  ) {
    const { time, logger, resource, scope, exportTimeoutMs } = options;
    this.timeoutMs = exportTimeoutMs ?? EXPORT_TIMEOUT_MS;
    this.watch = new CollectorWatch({ endpoint, clock: time, logger });
    this.metrics = this.metricReader();
    this.meters = new MeterProvider({ resource, readers: [pull, this.metrics] });
    this.spanExporter = spanExporter(this.settingsOf('traces'));
    this.spans = new SpanQueue({
      send: boundedExport((batch: SpanBatch, done) => {
        this.spanExporter.export(batch, done);
      }, this.boundsOf('traces')),
      limits: LIMITS,
      watch: this.watch,
      meters: this.meters,
      ...{ resource, scope, timers: time },
    });
    this.sinks = [this.spans];
    this.announce();
  }

  announce(): void {
    void this.metrics.forceFlush().catch(() => undefined);
  }

  async shutdown(withinMs: Milliseconds | undefined): Promise<void> {
    const { time } = this.options;
    const begunAt = time.epochNow();
    const pending = new Set<Signal>(['traces', 'metrics']);
    const ended = (signal: Signal) => (): void => {
      pending.delete(signal);
    };
    const ends = [
      this.closeSpans().then(ended('traces'), ended('traces')),
      this.meters.shutdown().then(ended('metrics'), ended('metrics')),
    ];
    const limitMs = withinMs ?? (this.watch.isDown() ? SHUTDOWN_WHILE_DOWN_MS : SHUTDOWN_MS);
    // A dead collector must not hold the process, nor make its end look like a failure.
    await settledWithin(limitMs, Promise.all(ends), time);
    this.spans.abandon();
    for (const signal of pending) this.watch.failed(signal, 'timeout', begunAt);
  }

  private async closeSpans(): Promise<void> {
    await this.spans.close();
    await this.spanExporter.shutdown();
  }

  private metricReader(): PeriodicExportingMetricReader {
    const exporter = new OTLPMetricExporter(this.settingsOf('metrics'));
    const send = boundedExport<Parameters<typeof exporter.export>[0]>((metrics, done) => {
      exporter.export(metrics, done);
    }, this.boundsOf('metrics'));
    return new PeriodicExportingMetricReader({
      exporter: {
        export: send,
        forceFlush: () => exporter.forceFlush(),
        shutdown: () => exporter.shutdown(),
      },
      exportIntervalMillis: METRIC_INTERVAL_MS,
      exportTimeoutMillis: Math.min(this.timeoutMs, METRIC_INTERVAL_MS),
      metricProducers: [this.options.registry],
    });
  }

  private settingsOf(signal: Signal): { readonly url: string; readonly timeoutMillis: Milliseconds } {
    return {
      url: `${this.endpoint.replace(/\/+$/, '')}/v1/${signal}`,
      timeoutMillis: this.timeoutMs,
    };
  }

  private boundsOf(signal: Signal): BoundedExportOptions {
    const { time } = this.options;
    return { signal, watch: this.watch, time, timeoutMs: this.timeoutMs };
  }
}

/** Waits for something that never rejects, but not longer than that. */
async function settledWithin(limitMs: Milliseconds, work: Promise<unknown>, timers: Timers): Promise<void> {
  const enough = new AbortController();
  const bound = sleep(limitMs, timers, enough.signal);
  await Promise.race([work, bound]);
  enough.abort();
  await bound.catch(() => undefined);
}

/** Reads when asked, and pushes nothing. */
class PullReader extends MetricReader {
  protected async onShutdown(): Promise<void> {
    // Nothing is held.
  }

  protected async onForceFlush(): Promise<void> {
    // Nothing is held.
  }
}
