import type { Tokens } from '@weir/kernel';
import { isRecord } from './json-value.js';
import { decodeObject, invalid, readModel, type ModelRequest } from './request-fields.js';

/** A chat request's body, as far as the gateway needs it. */
export interface ChatRequest extends ModelRequest {
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  /** The whole body, decoded once. Big numbers are rounded here, so it must never be written back. */
  readonly json: Readonly<Record<string, unknown>>;
}

/** The most choices that OpenAI accepts (read 2026-11). */
const MAX_CHOICES = 128;

/**
 * Reads what the gateway needs and leaves everything else to the provider.
 * @throws GatewayError `invalid_request` with `param`, and a message that says what to change
 */
export function readChatRequest(body: Uint8Array): ChatRequest {
  const json = decodeObject(body, '`model` and `messages`');
  return {
    model: readModel(json['model']),
    stream: readFlag(json['stream'], 'stream'),
    maxTokens: readMaxTokens(json),
    choices: readCount(json['n'], 'n', MAX_CHOICES) ?? 1,
    includeUsage: readIncludeUsage(json['stream_options']),
    messages: readMessages(json['messages']),
    json,
    bytes: body,
  };
}

function readMessages(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(value) || value.length === 0) {
    throw invalid('`messages` must be a list of at least one message.', 'messages');
  }
  return value.map((message: unknown, index) => {
    if (isRecord(message)) return message;
    throw invalid(
      `messages[${index}] must be an object with \`role\` and \`content\`.`,
      `messages[${index}]`,
    );
  });
}

/** The larger of the two: providers take either, so the smaller one proves nothing. */
function readMaxTokens(json: Readonly<Record<string, unknown>>): Tokens | undefined {
  const older = readCount(json['max_tokens'], 'max_tokens');
  const newer = readCount(json['max_completion_tokens'], 'max_completion_tokens');
  return older === undefined || newer === undefined ? (older ?? newer) : Math.max(older, newer);
}

function readIncludeUsage(value: unknown): boolean {
  if (value === undefined || value === null) return false;
  if (!isRecord(value)) throw invalid('`stream_options` must be an object or be left out.', 'stream_options');
  return readFlag(value['include_usage'], 'stream_options.include_usage');
}

/** OpenAI's optional fields accept null for "not given". */
function readFlag(value: unknown, param: string): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value === 'boolean') return value;
  throw invalid(`\`${param}\` must be true or false.`, param);
}

function readCount(value: unknown, param: string, most = Number.MAX_SAFE_INTEGER): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 && value <= most) return value;
  const range = most === Number.MAX_SAFE_INTEGER ? 'of at least 1' : `from 1 to ${most}`;
  throw invalid(`\`${param}\` must be a whole number ${range}, or be left out.`, param);
}
