import { GatewayError } from '@weir/kernel';
import { asBuffer, isRecord } from './json-value.js';

/** What every request to a model has, whatever it asks for. The bytes stay as the caller wrote them. */
export interface ModelRequest {
  readonly model: string;
  readonly stream: boolean;
  /** The most that the caller wants to have generated; undefined where it does not say. */
  readonly maxTokens: number | undefined;
  /** Choices asked for; 1 where left out. */
  readonly choices: number;
  /** Whether the caller wants the usage chunk. */
  readonly includeUsage: boolean;
  readonly bytes: Uint8Array;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The body as an object.
 * @param fields what it has to hold, for the message
 * @throws GatewayError `invalid_request`
 */
export function decodeObject(body: Uint8Array, fields: string): Readonly<Record<string, unknown>> {
  let json: unknown;
  try {
    json = JSON.parse(decoder.decode(asBuffer(body)));
  } catch {
    throw invalid(`The body is not valid JSON in UTF-8. Send a JSON object with ${fields}.`);
  }
  if (!isRecord(json)) throw invalid(`The body must be a JSON object with ${fields}.`);
  return json;
}

/** @throws GatewayError `invalid_request` */
export function readModel(value: unknown): string {
  if (typeof value === 'string' && value !== '') return value;
  throw invalid('`model` must be a string that names a model; GET /v1/models lists them.', 'model');
}

/** A fault of the caller. @param param the field */
export function invalid(message: string, param?: string): GatewayError {
  return new GatewayError('invalid_request', message, param === undefined ? {} : { param });
}
