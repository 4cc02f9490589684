import type { SpanContext } from '@opentelemetry/api';
import { TraceFlags } from '@opentelemetry/api';
import type { Clock, Milliseconds, Random } from '@weir/kernel';
import { RecordedSpan, type SpanOrigin, type SpanRequest, type TraceIdentity } from './recorded-span.js';

/** Who is told of every span that ended, exported or not. */
export interface SpanSink {
  ended(span: RecordedSpan): void;
}

/** Something that is over and becomes spans, or is counted, when there is time for it. */
export interface Aftermath {
  tell(): void;
}

/** What a recorder needs. */
export interface RecorderOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly sinks: readonly SpanSink[];
  /** Share of traces that are marked for export, 0 to 1. What metrics derive from is recorded whatever it is. */
  readonly exportRatio: number;
  /** Who keeps what need not be told at once; without it all is. */
  readonly later?: { add(aftermath: Aftermath): void };
}

/** How long the distance between the two clocks is believed. */
const OFFSET_MS: Milliseconds = 1_000;

/** Starts spans and hands them to its sinks when they end. */
export class SpanRecorder implements SpanOrigin {
  private readonly clock: Clock;
  private offset: Milliseconds = 0;
  private offsetUntil: Milliseconds = -Infinity;
  /** Where ids are made. */
  private readonly bytes = Buffer.alloc(16);

  constructor(private readonly options: RecorderOptions) {
    this.clock = options.clock;
  }

  now(): Milliseconds {
    return this.clock.now();
  }

  newSpanId(): string {
    return this.hex(1, this.word());
  }

  start(name: string, request: SpanRequest): RecordedSpan {
    const { parent } = request;
    const trace = parent instanceof RecordedSpan ? parent.trace : this.traceOf(parent);
    return new RecordedSpan(this, name, trace, request);
  }

  /** Tells it when there is time: nobody waits for its spans, none of which is a parent yet. */
  later(aftermath: Aftermath): void {
    const { later } = this.options;
    if (later === undefined) aftermath.tell();
    else later.add(aftermath);
  }

  ended(span: RecordedSpan): void {
    for (const sink of this.options.sinks) sink.ended(span);
  }

  /**
   * A caller's `sampled` is honoured, but the lack of it is not: then our own ratio decides, or a caller could hide its
   * traffic from the traces.
   */
  private traceOf(remote: SpanContext | undefined): TraceIdentity {
    if (remote === undefined) return this.ownTrace();
    const { traceId } = remote;
    const isWanted = (remote.traceFlags & TraceFlags.SAMPLED) !== 0;
    return {
      traceId,
      flags: isWanted ? TraceFlags.SAMPLED : this.flagsOf(parseInt(traceId.slice(24), 16)),
      epochOffset: this.epochOffset(),
    };
  }

  private ownTrace(): TraceIdentity {
    const last = this.word();
    return new OwnTrace(this.flagsOf(last), this.epochOffset(), () => this.hex(3, last));
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
  private flagsOf(last: number): TraceFlags {
    return last < this.options.exportRatio * 2 ** 32 ? TraceFlags.SAMPLED : TraceFlags.NONE;
  }

  /** A random id of that many words of 32 bits and the last one, never all zero. */
  private hex(words: number, last: number): string {
    let some = last;
    for (let word = 0; word < words; word += 1) {
      const value = this.word();
      this.bytes.writeUInt32BE(value, 4 * word);
      some |= value;
    }
    this.bytes.writeUInt32BE(some === 0 ? 1 : last, 4 * words);
    return this.bytes.toString('hex', 0, 4 * (words + 1));
  }

  private word(): number {
    return Math.floor(this.options.random.next() * 2 ** 32);
  }
}

/** A trace that began here. Whether it is exported is decided by a part of its id; the rest is made when somebody asks. */
class OwnTrace implements TraceIdentity {
  private id: string | undefined;

  constructor(
    readonly flags: TraceFlags,
    readonly epochOffset: Milliseconds,
    private readonly newId: () => string,
  ) {}

  get traceId(): string {
    return (this.id ??= this.newId());
  }
}
