import type { Attributes, HrTime, Link, Span, SpanContext, SpanKind, SpanStatus } from '@opentelemetry/api';
import { SpanStatusCode } from '@opentelemetry/api';
import type { InstrumentationScope } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { EpochMilliseconds, Milliseconds } from '@weir/kernel';
import { ATTRIBUTES as A } from './names.js';

const UNSET: SpanStatus = { code: SpanStatusCode.UNSET };
const ERROR: SpanStatus = { code: SpanStatusCode.ERROR };
const NO_EVENTS: [] = [];

/** What all spans of a process share. */
export interface SpanOrigin {
  readonly resource: Resource;
  readonly scope: InstrumentationScope;
  now(): Milliseconds;
  /** Called once, when the span ends. */
  ended(span: RecordedSpan): void;
}

/** What one span starts with. `attributes` becomes the span's own. */
export interface SpanStart {
  readonly name: string;
  readonly kind: SpanKind;
  readonly context: SpanContext;
  readonly parent: SpanContext | undefined;
  readonly attributes: Attributes;
  readonly links: Link[];
  /** On the origin's monotonic clock. */
  readonly startedAt: Milliseconds;
  /** What to add to monotonic time for civil time; one value per trace keeps a clock step out of its spans. */
  readonly epochOffset: Milliseconds;
}

/**
 * A span that costs a third of the SDK's: times stay plain monotonic numbers until somebody exports them, attributes
 * are the object that was given, nothing is validated twice. Events are not kept: they may carry messages,
 * and their API is being phased out (OpenTelemetry blog, 2026-03-17).
 */
export class RecordedSpan implements Span, ReadableSpan {
  readonly name: string;
  readonly kind: SpanKind;
  readonly parentSpanContext?: SpanContext;
  readonly attributes: Attributes;
  readonly links: Link[];
  readonly startedAt: Milliseconds;
  readonly epochOffset: Milliseconds;
  status: SpanStatus = UNSET;
  endedAt: Milliseconds | undefined;
  private readonly identity: SpanContext;

  constructor(
    private readonly origin: SpanOrigin,
    start: SpanStart,
  ) {
    this.name = start.name;
    this.kind = start.kind;
    this.identity = start.context;
    if (start.parent !== undefined) this.parentSpanContext = start.parent;
    this.attributes = start.attributes;
    this.links = start.links;
    this.startedAt = start.startedAt;
    this.epochOffset = start.epochOffset;
  }

  spanContext(): SpanContext {
    return this.identity;
  }

  /** `undefined` leaves the attribute out. */
  set(name: string, value: unknown): this {
    if (value !== undefined) this.attributes[name] = value;
    return this;
  }

  /** Marks the span as failed. No message: it might hold content. */
  markError(): this {
    this.status = ERROR;
    return this;
  }

  /** Ends the span; later calls change nothing. */
  endAt(at: Milliseconds): void {
    if (this.endedAt !== undefined) return;
    this.endedAt = Math.max(at, this.startedAt);
    this.origin.ended(this);
  }

  end(): void {
    this.endAt(this.origin.now());
  }

  /** Length in seconds; 0 until the span ended. */
  get seconds(): number {
    return ((this.endedAt ?? this.startedAt) - this.startedAt) / 1000;
  }

  /** Seconds since the start, while the span is open. */
  elapsed(): number {
    return (this.origin.now() - this.startedAt) / 1000;
  }

  setAttribute(name: string, value: unknown): this {
    return this.set(name, value);
  }

  setAttributes(attributes: Attributes): this {
    for (const [name, value] of Object.entries(attributes)) this.set(name, value);
    return this;
  }

  /** A caller who left is no error, even where an instrumentation sees only a broken connection. */
  setStatus(status: SpanStatus): this {
    const isError = status.code === SpanStatusCode.ERROR;
    if (isError && this.attributes[A.errorType] !== 'client_disconnected') this.status = ERROR;
    return this;
  }

  addLink(link: Link): this {
    this.links.push(link);
    return this;
  }

  addLinks(links: Link[]): this {
    this.links.push(...links);
    return this;
  }

  addEvent(): this {
    return this;
  }

  recordException(): void {
    // An exception's message and stack may quote what was sent.
  }

  updateName(): this {
    return this;
  }

  isRecording(): boolean {
    return this.endedAt === undefined;
  }

  get ended(): boolean {
    return this.endedAt !== undefined;
  }

  get startTime(): HrTime {
    return toHrTime(this.startedAt + this.epochOffset);
  }

  get endTime(): HrTime {
    return toHrTime((this.endedAt ?? this.startedAt) + this.epochOffset);
  }

  get duration(): HrTime {
    return toHrTime((this.endedAt ?? this.startedAt) - this.startedAt);
  }

  get events(): [] {
    return NO_EVENTS;
  }

  get resource(): Resource {
    return this.origin.resource;
  }

  get instrumentationScope(): InstrumentationScope {
    return this.origin.scope;
  }

  get droppedAttributesCount(): number {
    return 0;
  }

  get droppedEventsCount(): number {
    return 0;
  }

  get droppedLinksCount(): number {
    return 0;
  }
}

/** Milliseconds as OpenTelemetry's pair of seconds and nanoseconds. */
export function toHrTime(ms: Milliseconds | EpochMilliseconds): HrTime {
  const seconds = Math.floor(ms / 1000);
  const nanos = Math.round((ms - seconds * 1000) * 1e6);
  return nanos === 1e9 ? [seconds + 1, 0] : [seconds, nanos];
}
