import type { HrTime } from '@opentelemetry/api';
import type { InstrumentationScope } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { EpochMilliseconds, Milliseconds } from '@weir/kernel';
import type { RecordedSpan } from './recorded-span.js';

/** A span that ended, in the form that the SDK's processors and exporters read. */
export function exportedSpan(
  span: RecordedSpan,
  resource: Resource,
  instrumentationScope: InstrumentationScope,
): ReadableSpan {
  const parent = span.parentSpanContext;
  const endedAt = span.endedAt ?? span.startedAt;
  return {
    name: span.name,
    kind: span.kind,
    spanContext: () => span.spanContext(),
    ...(parent === undefined ? {} : { parentSpanContext: parent }),
    startTime: toHrTime(span.startedAt + span.trace.epochOffset),
    endTime: toHrTime(endedAt + span.trace.epochOffset),
    duration: toHrTime(endedAt - span.startedAt),
    status: span.status,
    attributes: span.attributes,
    links: span.links,
    events: [],
    ended: true,
    resource,
    instrumentationScope,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

/** Milliseconds as OpenTelemetry's pair of seconds and nanoseconds. */
export function toHrTime(ms: Milliseconds | EpochMilliseconds): HrTime {
  const seconds = Math.floor(ms / 1000);
  const nanos = Math.round((ms - seconds * 1000) * 1e6);
  return nanos === 1e9 ? [seconds + 1, 0] : [seconds, nanos];
}
