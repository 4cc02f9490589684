/** A public vocabulary, by the name that tiktoken gives it. */
export type Encoding = 'o200k_base' | 'cl100k_base';

/** How a count stands to what the model's provider will count. */
export interface Vocabulary {
  readonly encoding: Encoding;
  /** Whether it is the model's own. Else a count is a second estimate, by somebody else's vocabulary. */
  readonly isOwn: boolean;
}

/** GPT-4 before GPT-4o, GPT-3.5 (`gpt-35` at Azure) and the embeddings. */
const CL100K = /^(gpt-4(?![.o\d])|gpt-3\.?5|text-embedding-(3-|ada-002))/;
/** GPT-4o and everything since. */
const O200K = /^(gpt-(4[.o]|[5-9]|oss)|chatgpt-4o|o[1-9](-|$))/;
/** What stands before the model's own name: a maker's, a route's, or that of fine-tuning. */
const BEFORE_NAME = /^.*\/|^ft:/g;

/**
 * The vocabulary of a model, by the name under which its provider knows it (model lists of OpenAI and Azure, read 2026-11).
 * A deployment may be called anything, so a name that says nothing is nobody's.
 */
export function vocabularyOf(model: string): Vocabulary {
  const name = model.toLowerCase().replace(BEFORE_NAME, '');
  if (CL100K.test(name)) return { encoding: 'cl100k_base', isOwn: true };
  return { encoding: 'o200k_base', isOwn: O200K.test(name) };
}
