import type { Attributes, Link, SpanContext } from '@opentelemetry/api';
import { SpanKind, TraceFlags } from '@opentelemetry/api';
import type { InstrumentationScope } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import type { Clock, Milliseconds, Random } from '@weir/kernel';
import { RecordedSpan, type SpanOrigin } from './recorded-span.js';

/** Who is told of every span that ended, exported or not. */
export interface SpanSink {
  ended(span: RecordedSpan): void;
}

/** What a recorder needs. */
export interface RecorderOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly resource: Resource;
  readonly scope: InstrumentationScope;
  readonly sinks: readonly SpanSink[];
  /** Share of traces that are marked for export, 0 to 1. Every span is recorded whatever it is. */
  readonly exportRatio: number;
}

/** A span to start; `at` defaults to now, `kind` to internal. */
export interface SpanRequest {
  readonly parent: RecordedSpan | SpanContext | undefined;
  /** Handed over: the span writes into it. */
  readonly attributes: Attributes;
  readonly kind?: SpanKind;
  readonly links?: readonly SpanContext[];
  readonly at?: Milliseconds;
}

/** Starts spans and hands them to its sinks when they end. */
export class SpanRecorder implements SpanOrigin {
  readonly resource: Resource;
  readonly scope: InstrumentationScope;
  private readonly clock: Clock;

  constructor(private readonly options: RecorderOptions) {
    this.resource = options.resource;
    this.scope = options.scope;
    this.clock = options.clock;
  }

  now(): Milliseconds {
    return this.clock.now();
  }

  start(name: string, request: SpanRequest): RecordedSpan {
    const { parent } = request;
    const parentContext = parent instanceof RecordedSpan ? parent.spanContext() : parent;
    return new RecordedSpan(this, {
      name,
      kind: request.kind ?? SpanKind.INTERNAL,
      context: this.contextBelow(parentContext),
      parent: parentContext,
      attributes: request.attributes,
      links: (request.links ?? []).map((context): Link => ({ context })),
      startedAt: request.at ?? this.clock.now(),
      epochOffset:
        parent instanceof RecordedSpan ? parent.epochOffset : this.clock.epochNow() - this.clock.now(),
    });
  }

  ended(span: RecordedSpan): void {
    for (const sink of this.options.sinks) sink.ended(span);
  }

  /**
   * A local parent decides. A caller's `sampled` is honoured, but the lack of it is not: then our own ratio decides,
   * or a caller could hide its traffic.
   */
  private contextBelow(parent: SpanContext | undefined): SpanContext {
    const spanId = this.hex(4);
    if (parent === undefined) {
      const traceId = this.hex(8);
      return { traceId, spanId, traceFlags: this.flagsOf(traceId) };
    }
    const sampled = (parent.traceFlags & TraceFlags.SAMPLED) !== 0;
    const decided = sampled || parent.isRemote !== true;
    return {
      traceId: parent.traceId,
      spanId,
      traceFlags: decided ? parent.traceFlags : this.flagsOf(parent.traceId),
    };
  }

  /** The last 32 bits of a trace id are random (W3C trace context, level 2), so every replica decides alike. */
  private flagsOf(traceId: string): TraceFlags {
    const { exportRatio } = this.options;
    if (exportRatio >= 1) return TraceFlags.SAMPLED;
    return parseInt(traceId.slice(24), 16) < exportRatio * 2 ** 32 ? TraceFlags.SAMPLED : TraceFlags.NONE;
  }

  /** A random id of `words` times 16 bits that is never all zero. */
  private hex(words: number): string {
    let id = '';
    for (let word = 0; word < words; word += 1) {
      const random = this.options.random.next();
      id += HEX[word === 0 ? 1 + Math.floor(random * 0xffff) : Math.floor(random * 0x10000)] ?? '';
    }
    return id;
  }
}

/** Every 16-bit number in hexadecimal: ids are made several times a request. */
const HEX = Array.from({ length: 0x10000 }, (_, word) => word.toString(16).padStart(4, '0'));
