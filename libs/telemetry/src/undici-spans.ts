import type { Attributes, Context, Span, SpanOptions, Tracer, TracerProvider } from '@opentelemetry/api';
import { context, trace, TraceFlags } from '@opentelemetry/api';
import { isTracingSuppressed } from '@opentelemetry/core';
import { UndiciInstrumentation, type UndiciRequest } from '@opentelemetry/instrumentation-undici';
import { ATTRIBUTES as A } from './names.js';
import { RecordedSpan } from './recorded-span.js';
import type { SpanRecorder } from './span-recorder.js';
import { ATTEMPT_NUMBER } from './traced-stream-client.js';

/** Stops tracing undici. */
export type StopUndiciSpans = () => void;

/**
 * Turns undici's automatic client spans on, below attempts only: what has no parent, such as an exporter's own request,
 * makes none, and neither does a trace that will not be exported, since no metric derives from these spans.
 * Nothing is sent along to providers: no propagator is ever registered.
 */
export function startUndiciSpans(recorder: SpanRecorder): StopUndiciSpans {
  const instrumentation = new UndiciInstrumentation({
    ignoreRequestHook: () => !isWanted(context.active()),
    startSpanHook: describeRequest,
  });
  instrumentation.setTracerProvider(providerOf(recorder));
  return () => {
    instrumentation.disable();
  };
}

function isWanted(active: Context): boolean {
  const parent = trace.getSpanContext(active);
  return (
    parent !== undefined && (parent.traceFlags & TraceFlags.SAMPLED) !== 0 && !isTracingSuppressed(active)
  );
}

/** A query or a user part may hold a key: neither reaches a span. */
function describeRequest(request: UndiciRequest): Attributes {
  const [path = '', query] = request.path.split('?', 2);
  const attempt = context.active().getValue(ATTEMPT_NUMBER);
  const url = new URL(path, request.origin);
  const attributes: Attributes = {
    [A.urlFull]: `${url.origin}${url.pathname}`,
    [A.urlQuery]: query === undefined ? '' : 'REDACTED',
  };
  if (typeof attempt === 'number' && attempt > 1) attributes[A.httpResendCount] = attempt - 1;
  return attributes;
}

/** The instrumentation's way to our recorder. */
function providerOf(recorder: SpanRecorder): TracerProvider {
  const startSpan = (name: string, options: SpanOptions = {}, below: Context = context.active()): Span => {
    const active = trace.getSpan(below);
    return recorder.start(name, {
      parent: active instanceof RecordedSpan ? active : active?.spanContext(),
      ...(options.attributes === undefined ? {} : { shared: options.attributes }),
      ...(options.kind === undefined ? {} : { kind: options.kind }),
    });
  };
  const tracer: Tracer = {
    startSpan,
    startActiveSpan: () => {
      throw new Error('Only startSpan is served here.');
    },
  };
  return { getTracer: () => tracer };
}
