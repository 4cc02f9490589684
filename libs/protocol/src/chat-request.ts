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
 * Reads what the gateway needs, refuses well-known fields of a wrong type before anything is charged for them, and
 * leaves everything else, ranges too, to the provider.
 * @throws GatewayError `invalid_request` with `param`, and a message that says what to change
 */
export function readChatRequest(body: Uint8Array): ChatRequest {
  const json = decodeObject(body, '`model` and `messages`');
  refuseWrongTypes(json);
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
    const param = `messages[${index}]`;
    if (!isRecord(message)) throw invalid(`${param} must be an object with \`role\` and \`content\`.`, param);
    if (typeof message['role'] !== 'string')
      throw invalid(`\`${param}.role\` must be a string, such as "user".`, `${param}.role`);
    if (!isLeftOut(message['content']) && !isTextOrList(message['content']))
      throw invalid(`\`${param}.content\` must be a string, a list of parts, or null.`, `${param}.content`);
    return message;
  });
}

interface FieldType {
  readonly fits: (value: unknown) => boolean;
  readonly name: string;
}

const NUMBER: FieldType = { fits: (value) => typeof value === 'number', name: 'a number' };

/** The types of OpenAI's chat fields (API reference, read 2026-11) that the gateway does not read itself. */
const FIELD_TYPES = Object.entries<FieldType>({
  tools: { fits: Array.isArray, name: 'a list of tools' },
  tool_choice: {
    fits: (value) => typeof value === 'string' || isRecord(value),
    name: 'a string or an object',
  },
  response_format: { fits: isRecord, name: 'an object' },
  stop: { fits: isTextOrList, name: 'a string or a list of strings' },
  temperature: NUMBER,
  top_p: NUMBER,
  presence_penalty: NUMBER,
  frequency_penalty: NUMBER,
  seed: { fits: Number.isInteger, name: 'a whole number' },
  user: { fits: (value) => typeof value === 'string', name: 'a string' },
});

function refuseWrongTypes(json: Readonly<Record<string, unknown>>): void {
  for (const [field, { fits, name }] of FIELD_TYPES) {
    const value = json[field];
    if (!isLeftOut(value) && !fits(value))
      throw invalid(`\`${field}\` must be ${name}, or be left out.`, field);
  }
}

function isTextOrList(value: unknown): boolean {
  return typeof value === 'string' || Array.isArray(value);
}

/** OpenAI's optional fields accept null for "not given". */
function isLeftOut(value: unknown): boolean {
  return value === undefined || value === null;
}

/** The larger of the two: providers take either, so the smaller one proves nothing. */
function readMaxTokens(json: Readonly<Record<string, unknown>>): Tokens | undefined {
  const older = readCount(json['max_tokens'], 'max_tokens');
  const newer = readCount(json['max_completion_tokens'], 'max_completion_tokens');
  return older === undefined || newer === undefined ? (older ?? newer) : Math.max(older, newer);
}

function readIncludeUsage(value: unknown): boolean {
  if (isLeftOut(value)) return false;
  if (!isRecord(value)) throw invalid('`stream_options` must be an object or be left out.', 'stream_options');
  return readFlag(value['include_usage'], 'stream_options.include_usage');
}

function readFlag(value: unknown, param: string): boolean {
  if (isLeftOut(value)) return false;
  if (typeof value === 'boolean') return value;
  throw invalid(`\`${param}\` must be true or false.`, param);
}

function readCount(value: unknown, param: string, most = Number.MAX_SAFE_INTEGER): number | undefined {
  if (isLeftOut(value)) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 && value <= most) return value;
  const range = most === Number.MAX_SAFE_INTEGER ? 'of at least 1' : `from 1 to ${most}`;
  throw invalid(`\`${param}\` must be a whole number ${range}, or be left out.`, param);
}
