import type { SpanContext } from '@opentelemetry/api';
import { TraceFlags } from '@opentelemetry/api';

/**
 * W3C trace context, level 1 (2021-11-23): version, trace id, parent id, flags; lower-case hexadecimal only.
 * Version ff and all-zero ids are invalid.
 */
const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * The caller's place in a trace, or undefined where the header is absent or not exactly what the standard allows.
 * Trailing fields in version 00 are refused; later versions are read as far as known.
 * `tracestate` is not taken: nothing of ours reads it, and it could carry anything.
 */
export function parseTraceparent(header: string | readonly string[] | undefined): SpanContext | undefined {
  if (typeof header !== 'string' || header.length > 128) return undefined;
  const match = TRACEPARENT.exec(header);
  if (match === null) return undefined;
  const [, version = '', traceId = '', spanId = '', flags = '', rest] = match;
  if (version === '00' && rest !== undefined) return undefined;
  return { traceId, spanId, traceFlags: parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true };
}
