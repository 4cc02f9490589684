import type { SpanContext } from '@opentelemetry/api';
import type { InstrumentationScope } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import { toHrTime } from './hr-time.js';
import { writeAttribute } from './otlp-attributes.js';
import { ProtoWriter } from './proto-writer.js';
import type { RecordedSpan } from './recorded-span.js';

/** Fields of OTLP's messages (opentelemetry-proto: trace_service.proto, trace.proto, resource.proto, common.proto). */
const REQUEST = { resourceSpans: 1 };
const RESOURCE_SPANS = { resource: 1, scopeSpans: 2 };
const RESOURCE = { attribute: 1, droppedAttributes: 2 };
const SCOPE_SPANS = { scope: 1, span: 2 };
const SCOPE = { name: 1 };
const SPAN = {
  ...{ traceId: 1, spanId: 2, parentId: 4, name: 5, kind: 6, start: 7, end: 8, attribute: 9 },
  ...{ droppedAttributes: 10, droppedEvents: 12, link: 13, droppedLinks: 14, status: 15, flags: 16 },
};
const LINK = { traceId: 1, spanId: 2, droppedAttributes: 5, flags: 6 };
const STATUS = { code: 3 };

/** Above the trace's own flags: that it is known whether the parent is remote, and that it is. */
const REMOTE_IS_KNOWN = 0x100;
const IS_REMOTE = 0x200;

/** Spans in OTLP's own bytes, ready to leave. */
export interface SpanBatch {
  readonly spans: number;
  readonly bytes: Uint8Array;
}

/**
 * Spans that wait for their export, packed as they end. As objects they would live just long enough to be copied twice
 * by the garbage collector, which was half of what an exported span cost (2026-11). The bytes are those that the SDK's
 * exporter makes.
 */
export class PackedSpans {
  /** How many. */
  count = 0;
  private readonly writer = new ProtoWriter();
  private readonly resource: Buffer;
  private readonly scope: Buffer;
  private readonly attribute = (name: string, value: unknown): void => {
    writeAttribute(this.writer, SPAN.attribute, name, value);
  };

  constructor(resource: Resource, scope: InstrumentationScope) {
    this.resource = packedResource(resource);
    this.scope = packedScope(scope);
  }

  /** @param span one that has ended; where it cannot be told, what is thrown goes on and the others stay whole */
  add(span: RecordedSpan): void {
    const { length } = this.writer;
    try {
      this.write(span);
    } catch (thrown) {
      this.writer.cut(length);
      throw thrown;
    }
    this.count += 1;
  }

  private write(span: RecordedSpan): void {
    const { writer } = this;
    const { parentSpanContext: parent, trace, startedAt, endedAt = startedAt } = span;
    const { traceId, spanId, traceFlags } = span.spanContext();
    const message = writer.begin(SCOPE_SPANS.span);
    writer.hex(SPAN.traceId, traceId);
    writer.hex(SPAN.spanId, spanId);
    if (parent !== undefined) writer.hex(SPAN.parentId, parent.spanId);
    writer.text(SPAN.name, span.name);
    // OTLP counts kinds from 1; 0 means that none is told.
    writer.integer(SPAN.kind, span.kind + 1);
    this.time(SPAN.start, startedAt + trace.epochOffset);
    this.time(SPAN.end, endedAt + trace.epochOffset);
    span.eachAttribute(this.attribute);
    writer.integer(SPAN.droppedAttributes, 0);
    writer.integer(SPAN.droppedEvents, 0);
    for (const { context } of span.links) this.link(context);
    writer.integer(SPAN.droppedLinks, 0);
    const status = writer.begin(SPAN.status);
    writer.integer(STATUS.code, span.status.code);
    writer.end(status);
    writer.fixed32(SPAN.flags, flagsOf(traceFlags, parent?.isRemote));
    writer.end(message);
  }

  /** Gives all of them out, and starts anew. */
  take(): SpanBatch {
    const scopeSpans = framed(RESOURCE_SPANS.scopeSpans, [this.scope, this.writer.view()]);
    const request = framed(REQUEST.resourceSpans, [this.resource, ...scopeSpans]);
    const batch = { spans: this.count, bytes: Buffer.concat(request) };
    this.writer.clear();
    this.count = 0;
    return batch;
  }

  private link({ traceId, spanId, traceFlags, isRemote }: SpanContext): void {
    const { writer } = this;
    const message = writer.begin(SPAN.link);
    writer.hex(LINK.traceId, traceId);
    writer.hex(LINK.spanId, spanId);
    writer.integer(LINK.droppedAttributes, 0);
    writer.fixed32(LINK.flags, flagsOf(traceFlags, isRemote));
    writer.end(message);
  }

  /** Nanoseconds, which are more than a number holds exactly: 10^9 is 5^9 times 2^9, so the seconds times 5^9 fit. */
  private time(field: number, epochMs: number): void {
    const [seconds, nanos] = toHrTime(epochMs);
    const high = seconds * 5 ** 9;
    const low = (high % 2 ** 23) * 2 ** 9 + nanos;
    this.writer.fixed64(field, low % 2 ** 32, Math.floor(high / 2 ** 23) + Math.floor(low / 2 ** 32));
  }
}

function flagsOf(traceFlags: number, isRemote: boolean | undefined): number {
  return (traceFlags & 0xff) | REMOTE_IS_KNOWN | (isRemote === true ? IS_REMOTE : 0);
}

/** A message of these bytes, and what goes before it. */
function framed(field: number, parts: readonly Buffer[]): readonly Buffer[] {
  const writer = new ProtoWriter(16);
  writer.header(
    field,
    parts.reduce((sum, { length }) => sum + length, 0),
  );
  return [writer.view(), ...parts];
}

function packedResource({ attributes }: Resource): Buffer {
  const writer = new ProtoWriter();
  const message = writer.begin(RESOURCE_SPANS.resource);
  for (const [name, value] of Object.entries(attributes))
    writeAttribute(writer, RESOURCE.attribute, name, value);
  writer.integer(RESOURCE.droppedAttributes, 0);
  writer.end(message);
  return Buffer.from(writer.view());
}

function packedScope({ name }: InstrumentationScope): Buffer {
  const writer = new ProtoWriter();
  const message = writer.begin(SCOPE_SPANS.scope);
  writer.text(SCOPE.name, name);
  writer.end(message);
  return Buffer.from(writer.view());
}
