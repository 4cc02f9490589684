import type { SpanSink } from '@weir/telemetry';

/** A span that ended, as sinks get it. */
export type EndedSpan = Parameters<SpanSink['ended']>[0];

/** Keeps every span that ended. */
export class SpanLog implements SpanSink {
  readonly spans: EndedSpan[] = [];
  private readonly waiters: (() => void)[] = [];

  ended(span: EndedSpan): void {
    this.spans.push(span);
    for (const wake of this.waiters.splice(0)) wake();
  }

  clear(): void {
    this.spans.length = 0;
  }

  /** Settles once that many spans of a name have ended: a server span ends after its caller has the last byte. */
  async until(name: string, count: number): Promise<readonly EndedSpan[]> {
    while (this.named(name).length < count) await new Promise<void>((resolve) => this.waiters.push(resolve));
    return this.named(name);
  }

  named(name: string, traceId?: string): readonly EndedSpan[] {
    return this.spans.filter(
      (span) => span.name === name && (traceId === undefined || traceOf(span) === traceId),
    );
  }

  ofTrace(traceId: string): readonly EndedSpan[] {
    return this.spans.filter((span) => traceOf(span) === traceId);
  }
}

export function traceOf(span: EndedSpan): string {
  return span.spanContext().traceId;
}

export function idOf(span: EndedSpan | undefined): string | undefined {
  return span?.spanContext().spanId;
}

export function parentOf(span: EndedSpan | undefined): string | undefined {
  return span?.parentSpanContext?.spanId;
}

export function linksOf(span: EndedSpan | undefined): readonly string[] {
  return (span?.links ?? []).map(({ context }) => context.spanId);
}
