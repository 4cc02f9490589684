import { GatewayError, toGatewayError } from '@weir/kernel';
import { encodeErrorBody, errorAnswer } from '@weir/protocol';

/** An error as it leaves: status, headers and body. */
export interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** What a caller is told to wait where nobody knows better, in milliseconds. */
const DEFAULT_RETRY_AFTER_MS = 1000;
/** The same where the account is out of money or quota: the account is parked, and only a person can tell until when. */
const SPENT_RETRY_AFTER_MS = 60_000;

/** Maps an error to what the caller gets: who said no, why, and when another try makes sense. */
export function toRefusal(error: GatewayError): Refusal {
  const { status, contentType, body } = errorAnswer(error);
  return { status, headers: { 'content-type': contentType, ...refusalHeaders(error) }, body };
}

/** The same without what describes the body: for answers that have begun. */
export function refusalHeaders(error: GatewayError): Readonly<Record<string, string>> {
  const waits = error.status === 429 || error.status === 503;
  const usualMs = error.failure === 'quota_exhausted' ? SPENT_RETRY_AFTER_MS : DEFAULT_RETRY_AFTER_MS;
  const hintMs = error.hintMs ?? (waits ? usualMs : undefined);
  const { calls } = error;
  return {
    ...(calls === undefined
      ? {}
      : { 'x-weir-account': calls.account, 'x-weir-attempts': String(calls.attempts) }),
    'x-weir-origin': error.origin,
    'x-weir-reason': error.code,
    // The gateway is the only one who retries: an SDK that retried as well would multiply the calls.
    'x-should-retry': 'false',
    ...(hintMs === undefined
      ? {}
      : {
          'retry-after': String(Math.max(1, Math.ceil(hintMs / 1000))),
          'retry-after-ms': String(Math.max(1, Math.ceil(hintMs))),
        }),
  };
}

/**
 * What the HTTP framework refused before our code ran (a body too large, an unknown URL, ...), as a GatewayError
 * that keeps the framework's status.
 */
export function fromFrameworkStatus(status: number, message: string): GatewayError {
  if (status >= 500) return toGatewayError(new Error(message));
  if (status === 413) return new GatewayError('body_too_large', BODY_TOO_LARGE);
  const error = new GatewayError('invalid_request', ADVICE[status] ?? message);
  if (status === error.status) return error;
  const passThrough = { status, contentType: 'application/json', body: encodeErrorBody(error) };
  return new GatewayError('invalid_request', error.message, { passThrough });
}

const ADVICE: Readonly<Record<number, string>> = {
  404: 'There is nothing under this method and URL. Weir answers POST /v1/chat/completions, POST /v1/embeddings, GET /v1/models and GET /v1/models/{id}.',
  415: 'The header content-type is not a media type. Send application/json.',
};
const BODY_TOO_LARGE =
  'The request body is larger than this gateway accepts (server.bodyLimitBytes). Send less.';
