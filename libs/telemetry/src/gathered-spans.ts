import type { Milliseconds, Timer, Timers } from '@weir/kernel';
import type { RecordedSpan } from './recorded-span.js';
import type { Aftermath, SpanSink } from './span-recorder.js';

/** Few enough that they die young: what survives a collection of garbage is copied. */
const TOGETHER = 256;
/** The longest that a span is kept back from its sinks. */
const LONGEST_MS: Milliseconds = 100;

/**
 * Tells sinks of spans together, one sink after the other: code that runs again and again costs a fraction of what it costs
 * between two requests, where everything else has used the processor's caches. Whoever reads what sinks make of
 * spans flushes first.
 */
export class GatheredSpans implements SpanSink {
  private spans: RecordedSpan[] = [];
  private aftermaths: Aftermath[] = [];
  private timer: Timer | undefined;
  private isFlushing = false;

  constructor(
    private readonly sinks: readonly SpanSink[],
    private readonly timers: Timers,
    /** Is told what was thrown instead of what can be told: the others are told of all the same, and whoever flushes goes on. */
    private readonly onFault: (thrown: unknown) => void = () => undefined,
  ) {}

  ended(span: RecordedSpan): void {
    this.spans.push(span);
    this.gathered();
  }

  /** Something that makes spans when it is told: they are handed on with the others. */
  add(aftermath: Aftermath): void {
    this.aftermaths.push(aftermath);
    this.gathered();
  }

  private gathered(): void {
    if (this.isFlushing) return;
    if (this.spans.length + this.aftermaths.length >= TOGETHER) this.flush();
    else
      this.timer ??= this.timers.after(LONGEST_MS, () => {
        this.flush();
      });
  }

  /** Nothing is kept back any longer. */
  flush(): void {
    this.timer?.cancel();
    this.timer = undefined;
    this.isFlushing = true;
    const { aftermaths } = this;
    this.aftermaths = [];
    try {
      for (const aftermath of aftermaths) this.tellOf(aftermath);
    } finally {
      this.isFlushing = false;
    }
    const { spans } = this;
    if (spans.length === 0) return;
    this.spans = [];
    for (const sink of this.sinks) this.tell(sink, spans);
  }

  private tellOf(aftermath: Aftermath): void {
    try {
      aftermath.tell();
    } catch (thrown) {
      this.onFault(thrown);
    }
  }

  private tell(sink: SpanSink, spans: readonly RecordedSpan[]): void {
    for (const span of spans) {
      try {
        sink.ended(span);
      } catch (thrown) {
        this.onFault(thrown);
      }
    }
  }
}
