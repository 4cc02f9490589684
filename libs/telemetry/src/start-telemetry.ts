import { context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { resourceFromAttributes, type Resource } from '@opentelemetry/resources';
import {
  systemClock,
  systemRandom,
  systemTimers,
  type Clock,
  type Milliseconds,
  type Random,
  type Timers,
} from '@weir/kernel';
import type { Limiter } from '@weir/limiter';
import type { RetryObserver } from '@weir/retry';
import type { StreamClient } from '@weir/upstream';
import type { FastifyInstance } from 'fastify';
import { EventLoopMetrics } from './event-loop.js';
import { faultLog } from './fault-log.js';
import { GatheredSpans } from './gathered-spans.js';
import { HealthMetrics, type HealthReading } from './health-metrics.js';
import { Instruments } from './instruments.js';
import { LabelGuard, type ConfiguredLabels } from './label-guard.js';
import { LimiterMetrics } from './limiter-metrics.js';
import type { Logger } from './logger.js';
import { MetricRegistry } from './metric-registry.js';
import { openExport } from './otlp-export.js';
import { RequestTraces } from './request-trace.js';
import { ServerSpans, UNTRACED, type RequestSpan } from './server-span.js';
import { SpanMetrics } from './span-metrics.js';
import { SpanRecorder, type SpanSink } from './span-recorder.js';
import { TracedLimiter } from './traced-limiter.js';
import { TracedRetries } from './traced-retries.js';
import { TracedStreamClient } from './traced-stream-client.js';
import { startUndiciSpans } from './undici-spans.js';
import { zeroSeries } from './zero-series.js';

/** How to observe. Nothing is read from the environment here. */
export interface TelemetryOptions {
  /** `off` gives every port back as it came. Default `on`. */
  readonly mode?: 'on' | 'off';
  readonly service: { readonly name: string; readonly version: string; readonly instance: string };
  /** What may become a label. */
  readonly labels: ConfiguredLabels;
  /** OTLP/HTTP base; nothing is exported without it. */
  readonly endpoint?: string;
  /** Share of traces that are exported, 0 to 1. Default 1. Metrics are exact whatever it is. */
  readonly exportRatio?: number;
  /** Gets one line per request. */
  readonly logger?: Logger;
  /** Is told of every span that ended. */
  readonly sinks?: readonly SpanSink[];
  /** The longest that one export may take, retries included. Default 10 s. */
  readonly exportTimeoutMs?: Milliseconds;
  readonly time?: Clock & Timers;
  readonly random?: Random;
}

/** Telemetry, running. The gateway wraps its ports with it and asks it for text. */
export interface Telemetry {
  /** @returns the same limiter with spans, and takes the gauges from it */
  limiter(inner: Limiter): Limiter;
  streamClient(inner: StreamClient): StreamClient;
  retryObserver(): RetryObserver;
  /** Takes the gauges of breakers and parked accounts from here. */
  health(read: () => HealthReading): void;
  /** After a reload: routes, teams and templates that may be labels from now on. */
  relabel(labels: ConfiguredLabels): void;
  /** Adds the hooks of the server spans; before the server listens. */
  serverSpans(server: FastifyInstance): void;
  /** @param raw Node's own request object */
  request(raw: object): RequestSpan;
  /** Prometheus text; empty where telemetry is off. */
  metricsText(): Promise<string>;
  /**
   * Flushes; never rejects.
   * @param withinMs the longest it may take; default 2 s, half a second where the last export failed
   */
  shutdown(withinMs?: Milliseconds): Promise<void>;
}

const SCOPE = { name: 'weir' };

/** Starts telemetry, once per process: the async context and undici's channels are the process's. */
export function startTelemetry(options: TelemetryOptions): Telemetry {
  return options.mode === 'off' ? OFF : new RunningTelemetry(options);
}

/** Costs nothing: every port comes back unwrapped. */
const OFF: Telemetry = {
  limiter: (inner) => inner,
  streamClient: (inner) => inner,
  retryObserver: () => ({ decided: () => () => undefined }),
  health: () => undefined,
  relabel: () => undefined,
  serverSpans: () => undefined,
  request: () => UNTRACED,
  metricsText: async () => '',
  shutdown: async () => undefined,
};

class RunningTelemetry implements Telemetry {
  private readonly recorder: SpanRecorder;
  private readonly gathered: GatheredSpans;
  private readonly traces: RequestTraces;
  private readonly spans: ServerSpans;
  private readonly limiterMetrics: LimiterMetrics;
  private readonly healthMetrics: HealthMetrics;
  private readonly eventLoop: EventLoopMetrics;
  private readonly instruments: Instruments;
  private readonly guard: LabelGuard;
  private readonly way: ReturnType<typeof openExport>;
  private readonly stopUndiciSpans: () => void;

  constructor(options: TelemetryOptions) {
    const { labels, service, sinks = [], time = SYSTEM_TIME, logger } = options;
    const resource = resourceOf(service);
    const registry = new MetricRegistry(time, resource, SCOPE);
    const instruments = (this.instruments = new Instruments(registry));
    const guard = (this.guard = new LabelGuard(labels));
    const accounts = new Map(labels.accounts.map((account) => [account.id, account]));
    zeroSeries(instruments, labels);
    this.limiterMetrics = new LimiterMetrics({ registry, instruments, guard, accounts, clock: time });
    this.healthMetrics = new HealthMetrics(registry, guard, accounts, time);
    this.eventLoop = new EventLoopMetrics(registry, time);
    this.way = openExport({
      endpoint: options.endpoint,
      exportTimeoutMs: options.exportTimeoutMs,
      resource,
      scope: SCOPE,
      registry,
      time,
      logger,
    });
    const told = [new SpanMetrics(instruments, guard), ...this.way.sinks];
    this.gathered = new GatheredSpans(told, time, faultLog(time, logger));
    registry.beforeCollecting(() => {
      this.gathered.flush();
    });
    this.recorder = new SpanRecorder({
      clock: time,
      random: options.random ?? systemRandom,
      exportRatio: options.exportRatio ?? 1,
      sinks: [this.gathered, ...sinks],
      // Who wants to be told of single spans is told at once.
      ...(sinks.length === 0 ? { later: this.gathered } : {}),
    });
    this.traces = new RequestTraces(accounts);
    this.spans = new ServerSpans(this.recorder, this.traces, logger);
    context.setGlobalContextManager(new AsyncLocalStorageContextManager());
    this.stopUndiciSpans = startUndiciSpans(this.recorder);
  }

  limiter(inner: Limiter): Limiter {
    this.limiterMetrics.watch(() => inner.status());
    return new TracedLimiter(inner, this.recorder, this.traces, this.limiterMetrics);
  }

  streamClient(inner: StreamClient): StreamClient {
    return new TracedStreamClient(inner, this.recorder, this.traces);
  }

  retryObserver(): RetryObserver {
    return new TracedRetries(this.recorder, this.traces);
  }

  health(read: () => HealthReading): void {
    this.healthMetrics.watch(read);
  }

  relabel(labels: ConfiguredLabels): void {
    // What ended before it was understood by the labels of then.
    this.gathered.flush();
    this.guard.configure(labels);
    zeroSeries(this.instruments, labels);
    this.way.announce();
  }

  serverSpans(server: FastifyInstance): void {
    this.spans.install(server);
  }

  request(raw: object): RequestSpan {
    return this.spans.of(raw);
  }

  metricsText(): Promise<string> {
    return this.way.metricsText();
  }

  async shutdown(withinMs?: Milliseconds): Promise<void> {
    this.stopUndiciSpans();
    this.eventLoop.stop();
    this.gathered.flush();
    await this.way.shutdown(withinMs);
    context.disable();
  }
}

const SYSTEM_TIME: Clock & Timers = { ...systemClock, ...systemTimers };

function resourceOf({ name, version, instance }: TelemetryOptions['service']): Resource {
  return resourceFromAttributes({
    'service.name': name,
    'service.version': version,
    'service.instance.id': instance,
  });
}
