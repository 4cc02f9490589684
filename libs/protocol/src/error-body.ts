import type { GatewayError } from '@weir/kernel';
import { isRecord, parseJson } from './json-value.js';
import { encodeSseEvent } from './sse-encoder.js';

/** An error as an HTTP answer. */
export interface ErrorAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Uint8Array;
}

/** The error in OpenAI's shape, as JSON bytes. The provider's own body, where it passes through, is not looked at. */
export function encodeErrorBody(error: GatewayError): Uint8Array {
  return Buffer.from(errorJson(error));
}

/** What the caller gets: a provider's answer that passes through as it came, else our own body. */
export function errorAnswer(error: GatewayError): ErrorAnswer {
  return (
    error.passThrough ?? {
      status: error.status,
      contentType: 'application/json',
      body: encodeErrorBody(error),
    }
  );
}

/**
 * The error as the last event of a stream whose 200 is already out; no `[DONE]` follows it.
 * SDKs look for the field `error`: a body of the provider's without it would be taken for a chunk, so ours takes its place.
 */
export function encodeErrorEvent(error: GatewayError): Uint8Array {
  const { body } = error.passThrough ?? {};
  const text = body === undefined ? '' : Buffer.from(body).toString('utf8');
  return encodeSseEvent(hasError(text) ? text : errorJson(error), 'error');
}

function hasError(text: string): boolean {
  const json = parseJson(text);
  return isRecord(json) && json['error'] != null;
}

function errorJson(error: GatewayError): string {
  const { message, type, code } = error;
  return JSON.stringify({ error: { message, type, param: error.param ?? null, code } });
}
