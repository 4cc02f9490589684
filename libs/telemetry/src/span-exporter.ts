import type { IOtlpExportDelegate } from '@opentelemetry/otlp-exporter-base';
import {
  convertLegacyHttpOptions,
  createOtlpHttpExportDelegate,
} from '@opentelemetry/otlp-exporter-base/node-http';
import type { Milliseconds } from '@weir/kernel';
import type { SpanBatch } from './packed-spans.js';

/** Sends batches of spans to a collector. */
export type SpanExporter = IOtlpExportDelegate<SpanBatch>;

/** The SDK's own way to a collector (retries, limits, headers from the environment), for spans that are packed already. */
export function spanExporter(settings: {
  readonly url: string;
  readonly timeoutMillis: Milliseconds;
}): SpanExporter {
  // Nothing else reads OTEL_EXPORTER_OTLP_HEADERS and the like, so the SDK's exporters use it as well.
  const options = convertLegacyHttpOptions(settings, 'TRACES', 'v1/traces', {
    'Content-Type': 'application/x-protobuf',
  });
  const serializer = {
    serializeRequest: ({ bytes }: SpanBatch) => bytes,
    deserializeResponse: () => undefined,
  };
  const counter = { name: 'span', countItems: ({ spans }: SpanBatch) => spans } as const;
  return createOtlpHttpExportDelegate(options, serializer, 'otlp_http_span_exporter', counter, undefined);
}
