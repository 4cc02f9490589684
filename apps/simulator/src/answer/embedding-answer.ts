import { z } from 'zod';
import { seededRandom, type Tokens } from '@weir/kernel';
import { jsonAnswer, type Answer, type HeaderMap } from './answer.js';
import { countTokens } from './transcript.js';
import { seedOf } from './utterance.js';

const text = z.string().min(1);
const tokenList = z.array(z.int().nonnegative()).nonempty();

/** One text, one list of tokens, or several of either: as a list in any case. */
const inputs = z.union([
  text.transform((input): Input[] => [input]),
  tokenList.transform((input): Input[] => [input]),
  z.array(text).nonempty(),
  z.array(tokenList).nonempty(),
]);

/** The part of an OpenAI embeddings request that decides the answer (as documented in 2026-11); other fields pass. */
export const EmbeddingRequest = z.looseObject({
  model: z.string().min(1),
  input: inputs,
  encoding_format: z.enum(['float', 'base64']).nullish(),
  dimensions: z.int().positive().max(8192).nullish(),
});

/** An embeddings request that was found well formed. */
export type EmbeddingRequest = z.infer<typeof EmbeddingRequest>;
type Input = string | readonly number[];

const DEFAULT_DIMENSIONS = 16;

/** Tokens of all inputs: texts by bytes, tokens as they are. */
export function countInputs(request: EmbeddingRequest): Tokens {
  const counts = request.input.map((input) =>
    typeof input === 'string' ? countTokens(input) : input.length,
  );
  return counts.reduce((sum, tokens) => sum + tokens, 0);
}

/** A unit vector for each input: a function of seed, model and input. */
export function embeddings(request: EmbeddingRequest, seed: number, headers: HeaderMap): Answer {
  const { model, encoding_format: format, dimensions } = request;
  const data = request.input.map((input, index) => {
    const vector = unitVector(seedOf([seed, model, input]), dimensions ?? DEFAULT_DIMENSIONS);
    const embedding = format === 'base64' ? Buffer.from(vector.buffer).toString('base64') : [...vector];
    return { object: 'embedding', index, embedding };
  });
  const tokens = countInputs(request);
  const usage = { prompt_tokens: tokens, total_tokens: tokens };
  return jsonAnswer(200, { object: 'list', data, model, usage }, headers);
}

function unitVector(seed: number, dimensions: number): Float32Array {
  const random = seededRandom(seed);
  const raw = Float32Array.from({ length: dimensions }, () => random.next() * 2 - 1);
  const norm = Math.hypot(...raw) || 1;
  return raw.map((value) => value / norm);
}
