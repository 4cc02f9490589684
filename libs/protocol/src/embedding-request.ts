import type { Tokens } from '@weir/kernel';
import { decodeObject, invalid, readModel, type ModelRequest } from './request-fields.js';

/** A request for embeddings, as far as the gateway needs it. Nothing is generated, so nothing but input is counted. */
export interface EmbeddingRequest extends ModelRequest {
  /** Those that the provider will have to tokenize. */
  readonly texts: readonly string[];
  /** Of all texts. */
  readonly characters: number;
  /** Of all inputs that the caller had tokenized itself. */
  readonly tokens: Tokens;
}

/**
 * Reads what the gateway needs and leaves everything else to the provider.
 * @throws GatewayError `invalid_request` with `param`
 */
export function readEmbeddingRequest(body: Uint8Array): EmbeddingRequest {
  const json = decodeObject(body, '`model` and `input`');
  return {
    model: readModel(json['model']),
    ...readInput(json['input']),
    stream: false,
    maxTokens: undefined,
    choices: 1,
    includeUsage: false,
    bytes: body,
  };
}

/** A text, a list of texts, tokens, or a list of tokens. */
function readInput(input: unknown): Pick<EmbeddingRequest, 'texts' | 'characters' | 'tokens'> {
  if (typeof input === 'string' && input !== '') return ofTexts([input]);
  if (!Array.isArray(input) || input.length === 0) throw badInput();
  const inputs: readonly unknown[] = input;
  if (inputs.every(isText)) return ofTexts(inputs);
  if (inputs.every(isToken)) return { texts: [], characters: 0, tokens: inputs.length };
  if (!inputs.every(isTokens)) throw badInput();
  return { texts: [], characters: 0, tokens: inputs.reduce((sum, tokens) => sum + tokens.length, 0) };
}

function ofTexts(texts: readonly string[]): Pick<EmbeddingRequest, 'texts' | 'characters' | 'tokens'> {
  return { texts, characters: texts.reduce((sum, text) => sum + text.length, 0), tokens: 0 };
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isToken(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function isTokens(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length > 0 && value.every(isToken);
}

function badInput(): Error {
  return invalid(
    '`input` must be a text, a list of texts, a list of tokens, or a list of such lists.',
    'input',
  );
}
