import type { Attributes, SpanContext } from '@opentelemetry/api';
import { SpanKind, TraceFlags } from '@opentelemetry/api';
import type { Clock, Milliseconds, Random } from '@weir/kernel';
import { RecordedSpan, type SpanOrigin, type TraceIdentity } from './recorded-span.js';

/** Who is told of every span that ended, exported or not. */
export interface SpanSink {
  ended(span: RecordedSpan): void;
}

/** What a recorder needs. */
export interface RecorderOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly sinks: readonly SpanSink[];
  /** Share of traces that are marked for export, 0 to 1. Every span is recorded whatever it is. */
  readonly exportRatio: number;
}

/** A span to start; `at` defaults to now, `kind` to internal. */
export interface SpanRequest {
  readonly parent: RecordedSpan | SpanContext | undefined;
  /** Attributes that are not this span's alone; they are kept, not copied. */
  readonly shared?: Readonly<Attributes>;
  readonly kind?: SpanKind;
  /** A span that this one comes from without being below it. */
  readonly link?: RecordedSpan | undefined;
  readonly at?: Milliseconds;
}

const NOTHING_SHARED: Readonly<Attributes> = {};
const NO_LINKS: readonly RecordedSpan[] = [];

/** Starts spans and hands them to its sinks when they end. */
export class SpanRecorder implements SpanOrigin {
  private readonly clock: Clock;

  constructor(private readonly options: RecorderOptions) {
    this.clock = options.clock;
  }

  now(): Milliseconds {
    return this.clock.now();
  }

  newSpanId(): string {
    return this.hex(4);
  }

  start(name: string, request: SpanRequest): RecordedSpan {
    const { parent, link } = request;
    return new RecordedSpan(this, {
      name,
      parent,
      kind: request.kind ?? SpanKind.INTERNAL,
      trace: parent instanceof RecordedSpan ? parent.trace : this.traceOf(parent),
      shared: request.shared ?? NOTHING_SHARED,
      linked: link === undefined ? NO_LINKS : [link],
      startedAt: request.at ?? this.clock.now(),
    });
  }

  ended(span: RecordedSpan): void {
    for (const sink of this.options.sinks) sink.ended(span);
  }

  /**
   * A caller's `sampled` is honoured, but the lack of it is not: then our own ratio decides, or a caller could hide its
   * traffic from the traces.
   */
  private traceOf(remote: SpanContext | undefined): TraceIdentity {
    const traceId = remote?.traceId ?? this.hex(8);
    const isWanted = remote !== undefined && (remote.traceFlags & TraceFlags.SAMPLED) !== 0;
    return {
      traceId,
      flags: isWanted ? TraceFlags.SAMPLED : this.flagsOf(traceId),
      epochOffset: this.clock.epochNow() - this.clock.now(),
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
