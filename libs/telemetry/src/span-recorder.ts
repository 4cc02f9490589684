import type { SpanContext } from '@opentelemetry/api';
import { TraceFlags } from '@opentelemetry/api';
import type { Clock, Milliseconds, Random } from '@weir/kernel';
import { RecordedSpan, type SpanOrigin, type SpanRequest, type TraceIdentity } from './recorded-span.js';

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

/** How long the distance between the two clocks is believed. */
const OFFSET_MS: Milliseconds = 1_000;

/** Starts spans and hands them to its sinks when they end. */
export class SpanRecorder implements SpanOrigin {
  private readonly clock: Clock;
  private offset: Milliseconds = 0;
  private offsetUntil: Milliseconds = -Infinity;
  /** Where ids are made; as numbers and as bytes. */
  private readonly words = new Uint32Array(4);
  private readonly bytes = Buffer.from(this.words.buffer);

  constructor(private readonly options: RecorderOptions) {
    this.clock = options.clock;
  }

  now(): Milliseconds {
    return this.clock.now();
  }

  newSpanId(): string {
    return this.hex(2);
  }

  start(name: string, request: SpanRequest): RecordedSpan {
    const { parent } = request;
    const trace = parent instanceof RecordedSpan ? parent.trace : this.traceOf(parent);
    return new RecordedSpan(this, name, trace, request);
  }

  ended(span: RecordedSpan): void {
    for (const sink of this.options.sinks) sink.ended(span);
  }

  /**
   * A caller's `sampled` is honoured, but the lack of it is not: then our own ratio decides, or a caller could hide its
   * traffic from the traces.
   */
  private traceOf(remote: SpanContext | undefined): TraceIdentity {
    const traceId = remote?.traceId ?? this.hex(4);
    const isWanted = remote !== undefined && (remote.traceFlags & TraceFlags.SAMPLED) !== 0;
    return {
      traceId,
      flags: isWanted ? TraceFlags.SAMPLED : this.flagsOf(traceId),
      epochOffset: this.epochOffset(),
    };
  }

  /** Read from both clocks once a second: they drift apart by less in that time than a span can show. */
  private epochOffset(): Milliseconds {
    const now = this.clock.now();
    if (now >= this.offsetUntil) {
      this.offset = this.clock.epochNow() - now;
      this.offsetUntil = now + OFFSET_MS;
    }
    return this.offset;
  }

  /** The last 32 bits of a trace id are random (W3C trace context, level 2), so every replica decides alike. */
  private flagsOf(traceId: string): TraceFlags {
    const { exportRatio } = this.options;
    if (exportRatio >= 1) return TraceFlags.SAMPLED;
    return parseInt(traceId.slice(24), 16) < exportRatio * 2 ** 32 ? TraceFlags.SAMPLED : TraceFlags.NONE;
  }

  /** A random id of that many words of 32 bits, never all zero. In one piece: it is looked at more often than made. */
  private hex(words: number): string {
    let some = 0;
    for (let word = 0; word < words; word += 1) {
      const value = Math.floor(this.options.random.next() * 2 ** 32);
      this.words[word] = value;
      some |= value;
    }
    if (some === 0) this.words[0] = 1;
    return this.bytes.toString('hex', 0, 4 * words);
  }
}
