import type { Counter } from '@opentelemetry/api';
import type { InstrumentationScope } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import type { MeterProvider } from '@opentelemetry/sdk-metrics';
import type { BatchSpanProcessor } from '@opentelemetry/sdk-trace';
import type { CollectorWatch } from './collector-watch.js';
import { ExportedSpan } from './exported-span.js';
import { ATTRIBUTES as A } from './names.js';
import type { RecordedSpan } from './recorded-span.js';
import type { SpanSink } from './span-recorder.js';

/** What a gate needs. */
export interface SpanGateOptions {
  readonly processor: Pick<BatchSpanProcessor, 'onEnd'>;
  readonly watch: CollectorWatch;
  readonly meters: MeterProvider;
  readonly resource: Resource;
  readonly scope: InstrumentationScope;
  /** Spans that may be held, sent ones without an answer among them. */
  readonly limit: number;
  /** The same while the collector takes nothing. */
  readonly limitWhileDown: number;
}

/** Why a span is not taken, as label `error_type`. */
type Drop = 'queue_full' | 'collector_down';

/**
 * Decides which spans may wait for their export. What is held bridges a pause of the collector; where it takes nothing at
 * all, memory is not spent on spans that nobody will see.
 */
export class SpanGate implements SpanSink {
  private held = 0;
  private readonly processed: Counter;

  constructor(private readonly options: SpanGateOptions) {
    // The SDK's own instrument: a dropped span is one whose processing has finished, whoever dropped it.
    this.processed = options.meters
      .getMeter('@opentelemetry/sdk-trace')
      .createCounter('otel.sdk.processor.span.processed', {
        unit: '{span}',
        description:
          'The number of spans for which the processing has finished, either successful or failed.',
      });
    this.count('queue_full', 0);
    this.count('collector_down', 0);
  }

  ended(span: RecordedSpan): void {
    if (!span.isExported) return;
    const { processor, watch, limit, limitWhileDown, resource, scope } = this.options;
    if (this.held >= limit) this.drop('queue_full');
    else if (this.held >= limitWhileDown && watch.isDown('traces')) this.drop('collector_down');
    else {
      this.held += 1;
      processor.onEnd(new ExportedSpan(span, resource, scope));
    }
  }

  /** An export of so many is over. */
  released(spans: number, hasArrived: boolean): void {
    this.held -= spans;
    if (!hasArrived) this.options.watch.lost(spans);
  }

  /** Nothing is sent any more: what is still held is lost. */
  abandon(): void {
    this.released(this.held, false);
  }

  private drop(why: Drop): void {
    this.count(why, 1);
    this.options.watch.lost(1);
  }

  private count(why: Drop, spans: number): void {
    this.processed.add(spans, { ...COMPONENT, [A.errorType]: why });
  }
}

const COMPONENT = { 'otel.component.type': 'weir_span_gate', 'otel.component.name': 'weir_span_gate/0' };
