import { context, SpanStatusCode, trace, type Attributes } from '@opentelemetry/api';
import { isTracingSuppressed } from '@opentelemetry/core';
import { UndiciInstrumentation, type UndiciRequest } from '@opentelemetry/instrumentation-undici';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { EndedSpan } from '@weir/testing';
import { ATTEMPT_NUMBER } from '../src/traced-stream-client.js';

/** A span of a call, in words that both have. */
export interface Told {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly parentId: string | undefined;
  readonly status: { readonly code: number; readonly message?: string };
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly string[];
  readonly links: number;
  readonly hasEnded: boolean;
}

/**
 * All that ours tells otherwise than OpenTelemetry's instrumentation, on purpose (docs/decisions/0006). The first two
 * are hooks that the instrumentation has for it; the others change what it told.
 */
const DELIBERATE = {
  /** Only what is below an attempt of an exported trace. */
  ignoreRequestHook: (): boolean => {
    const parent = trace.getSpanContext(context.active());
    return parent === undefined || parent.traceFlags === 0 || isTracingSuppressed(context.active());
  },
  /** A query or a user part may hold a key; a resend is counted. */
  startSpanHook: ({ path, origin }: UndiciRequest): Attributes => {
    const [pathname = '', query] = path.split('?', 2);
    const attempt = context.active().getValue(ATTEMPT_NUMBER);
    const url = new URL(pathname, origin);
    return {
      'url.full': `${url.origin}${url.pathname}`,
      'url.query': query === undefined ? '' : 'REDACTED',
      ...(typeof attempt === 'number' && attempt > 1 ? { 'http.request.resend_count': attempt - 1 } : {}),
    };
  },
  /** The message of an error may quote what was sent, and an exception's event holds it too: neither is told. */
  noMessages: (told: Told): Told => ({ ...told, status: { code: told.status.code }, events: [] }),
  /** A caller who left is no error. */
  leavingIsNoError: (told: Told): Told =>
    told.attributes['error.type'] === 'client_disconnected'
      ? { ...told, status: { code: SpanStatusCode.UNSET } }
      : told,
};

/** OpenTelemetry's instrumentation of undici, on the SDK's tracer. Hears the calls of the process from its start on. */
export class UndiciJudge {
  private readonly exporter = new InMemorySpanExporter();
  private readonly provider = new TracerProvider({
    spanProcessors: [new SimpleSpanProcessor({ exporter: this.exporter })],
  });
  private readonly instrumentation = new UndiciInstrumentation({
    ignoreRequestHook: DELIBERATE.ignoreRequestHook,
    startSpanHook: DELIBERATE.startSpanHook,
  });

  constructor() {
    this.instrumentation.setTracerProvider(this.provider);
  }

  /** What it told since it was asked last. */
  take(): readonly Told[] {
    const spans = this.exporter.getFinishedSpans().map(toldByJudge);
    this.exporter.reset();
    return spans;
  }

  async stop(): Promise<void> {
    this.instrumentation.disable();
    await this.provider.shutdown();
  }
}

/** What ours is to tell where the judge told this. */
export function asOurs(judged: Told): Told {
  return DELIBERATE.leavingIsNoError(DELIBERATE.noMessages(judged));
}

/** One of ours. It has no events, whatever is recorded. */
export function toldByUs(span: EndedSpan): Told {
  return {
    ...{ name: span.name, kind: span.kind, status: span.status, attributes: span.attributes, events: [] },
    traceId: span.spanContext().traceId,
    parentId: span.parentSpanContext?.spanId,
    links: span.links.length,
    hasEnded: span.endedAt !== undefined,
  };
}

function toldByJudge(span: ReadableSpan): Told {
  return {
    ...{ name: span.name, kind: span.kind, status: span.status, attributes: span.attributes },
    traceId: span.spanContext().traceId,
    parentId: span.parentSpanContext?.spanId,
    events: span.events.map(({ name }) => name),
    links: span.links.length,
    hasEnded: span.ended,
  };
}
