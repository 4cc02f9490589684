import type { Attributes, HrTime, Link, SpanContext, SpanKind, SpanStatus } from '@opentelemetry/api';
import type { InstrumentationScope } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { toHrTime } from '../src/hr-time.js';
import type { RecordedSpan } from '../src/recorded-span.js';

/** A span that ended, in the form that the SDK's own exporters read: to compare with what they send. */
export class ReadableRecord implements ReadableSpan {
  readonly name: string;
  readonly kind: SpanKind;
  readonly parentSpanContext?: SpanContext;
  readonly startTime: HrTime;
  readonly endTime: HrTime;
  readonly duration: HrTime;
  readonly status: SpanStatus;
  readonly attributes: Attributes;
  readonly links: Link[];
  readonly events: [] = [];
  readonly ended = true;
  readonly droppedAttributesCount = 0;
  readonly droppedEventsCount = 0;
  readonly droppedLinksCount = 0;
  private readonly identity: SpanContext;

  constructor(
    span: RecordedSpan,
    readonly resource: Resource,
    readonly instrumentationScope: InstrumentationScope,
  ) {
    const { startedAt, trace, parentSpanContext: parent } = span;
    const endedAt = span.endedAt ?? startedAt;
    this.name = span.name;
    this.kind = span.kind;
    if (parent !== undefined) this.parentSpanContext = parent;
    this.startTime = toHrTime(startedAt + trace.epochOffset);
    this.endTime = toHrTime(endedAt + trace.epochOffset);
    this.duration = toHrTime(endedAt - startedAt);
    this.status = span.status;
    this.attributes = span.attributes;
    this.links = span.links;
    this.identity = span.spanContext();
  }

  spanContext(): SpanContext {
    return this.identity;
  }
}
