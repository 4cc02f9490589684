import type { Attributes, Counter } from '@opentelemetry/api';
import { ExportResultCode, type ExportResult, type InstrumentationScope } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import type { MeterProvider } from '@opentelemetry/sdk-metrics';
import type { Milliseconds, Timer, Timers } from '@weir/kernel';
import type { Export } from './bounded-export.js';
import type { CollectorWatch } from './collector-watch.js';
import { ATTRIBUTES as A } from './names.js';
import { PackedSpans, type SpanBatch } from './packed-spans.js';
import type { RecordedSpan } from './recorded-span.js';
import type { SpanSink } from './span-recorder.js';

/** How many spans are held, and how many leave together. */
export interface SpanQueueLimits {
  /** Spans that one export carries. */
  readonly batch: number;
  /** The longest that a span waits for others to leave with. */
  readonly delayMs: Milliseconds;
  /** Spans that may be held, sent ones without an answer among them. */
  readonly held: number;
  /** The same while the collector takes nothing. */
  readonly heldWhileDown: number;
}

/** What a queue needs. */
export interface SpanQueueOptions {
  /** One at a time, but for the last ones. */
  readonly send: Export<SpanBatch>;
  readonly limits: SpanQueueLimits;
  readonly watch: CollectorWatch;
  readonly meters: MeterProvider;
  readonly resource: Resource;
  readonly scope: InstrumentationScope;
  readonly timers: Timers;
}

/** Why a span is not taken, as label `error_type`. */
type Drop = 'queue_full' | 'collector_down';

/**
 * Spans on their way out, in batches. What is held bridges a pause of the collector; where it takes nothing at all,
 * memory is not spent on spans that nobody will see.
 */
export class SpanQueue implements SpanSink {
  private readonly packed: PackedSpans;
  /** Batches that have their size and wait for the export before them. */
  private readonly ready: SpanBatch[] = [];
  private readonly counts: QueueCounts;
  private held = 0;
  private sending = 0;
  private timer: Timer | undefined;
  private state: 'open' | 'closed' | 'abandoned' = 'open';

  constructor(private readonly options: SpanQueueOptions) {
    const { resource, scope, meters, limits } = options;
    this.packed = new PackedSpans(resource, scope);
    this.counts = new QueueCounts(meters, limits.held, () => this.waiting);
  }

  /** Spans that no export has taken yet. */
  private get waiting(): number {
    return this.ready.reduce((sum, { spans }) => sum + spans, this.packed.count);
  }

  ended(span: RecordedSpan): void {
    if (!span.isExported || this.state !== 'open') return;
    const { watch, limits } = this.options;
    if (this.held >= limits.held) this.drop('queue_full');
    else if (this.held >= limits.heldWhileDown && watch.isDown('traces')) this.drop('collector_down');
    else {
      this.packed.add(span);
      this.held += 1;
      if (this.packed.count >= limits.batch) this.ready.push(this.packed.take());
      this.goOn();
    }
  }

  /** Sends all that is held. Resolves when it has arrived, or is lost. */
  async close(): Promise<void> {
    this.state = 'closed';
    this.timer?.cancel();
    if (this.packed.count > 0) this.ready.push(this.packed.take());
    await Promise.all(this.ready.splice(0).map((batch) => this.send(batch)));
  }

  /** Nothing is sent any more: what is still held is lost. */
  abandon(): void {
    this.state = 'abandoned';
    this.options.watch.lost(this.held);
  }

  private goOn(): void {
    if (this.sending > 0 || this.state !== 'open') return;
    const [batch] = this.ready.splice(0, 1);
    if (batch !== undefined) void this.send(batch);
    else if (this.packed.count > 0)
      this.timer ??= this.options.timers.after(this.options.limits.delayMs, () => {
        this.timer = undefined;
        if (this.sending === 0) void this.send(this.packed.take());
      });
  }

  private async send(batch: SpanBatch): Promise<void> {
    this.timer?.cancel();
    this.timer = undefined;
    this.sending += 1;
    const { code, error } = await new Promise<ExportResult>((resolve) => {
      this.options.send(batch, resolve);
    });
    this.sending -= 1;
    if (this.state === 'abandoned') return;
    this.held -= batch.spans;
    const hasArrived = code === ExportResultCode.SUCCESS;
    this.counts.add(batch.spans, hasArrived ? undefined : (error?.name ?? 'unknown'));
    if (!hasArrived) this.options.watch.lost(batch.spans);
    this.goOn();
  }

  private drop(why: Drop): void {
    this.counts.add(1, why);
    this.options.watch.lost(1);
  }
}

/** What a queue tells of itself, by the names that OpenTelemetry has for span processors. */
class QueueCounts {
  private readonly processed: Counter;

  constructor(meters: MeterProvider, capacity: number, size: () => number) {
    const meter = meters.getMeter('weir');
    this.processed = meter.createCounter('otel.sdk.processor.span.processed', {
      unit: '{span}',
      description: 'Spans whose processing has finished, well or not.',
    });
    meter
      .createUpDownCounter('otel.sdk.processor.span.queue.capacity', {
        unit: '{span}',
        description: 'Spans that may be held.',
      })
      .add(capacity, COMPONENT);
    meter
      .createObservableUpDownCounter('otel.sdk.processor.span.queue.size', {
        unit: '{span}',
        description: 'Spans that wait for their export.',
      })
      .addCallback((result) => {
        result.observe(size(), COMPONENT);
      });
    for (const why of ['queue_full', 'collector_down'] satisfies Drop[]) this.add(0, why);
  }

  /** @param error why they are lost; nothing where they have arrived */
  add(spans: number, error?: string): void {
    const labels: Attributes = error === undefined ? COMPONENT : { ...COMPONENT, [A.errorType]: error };
    this.processed.add(spans, labels);
  }
}

const COMPONENT = { 'otel.component.type': 'weir_span_queue', 'otel.component.name': 'weir_span_queue/0' };
