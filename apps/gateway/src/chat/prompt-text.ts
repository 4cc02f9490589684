import type { Tokens } from '@weir/kernel';
import type { ChatRequest, EmbeddingRequest } from '@weir/protocol';

/** What a tokenizer is given of a request: the same that is measured in characters for the estimate (`prompt-size.ts`). */
export interface PromptText {
  readonly texts: readonly string[];
  /** Tokens of what is no text. */
  readonly besideText: Tokens;
  /**
   * Whether that is all that the provider counts, and as it counts it. Pictures are not text, and tools are rendered by each
   * provider in its own way; we only have their JSON.
   */
  readonly isWhole: boolean;
}

/** Marks around a message and its role (OpenAI's cookbook, "How to count tokens with tiktoken", read 2026-11). */
const MESSAGE_TOKENS: Tokens = 4;
/** The beginning of the answer, in the same place. */
const ANSWER_TOKENS: Tokens = 3;
/** About what a picture costs, in the middle of what providers charge (2026-11). */
const PICTURE_TOKENS: Tokens = 1000;

/** What a chat costs beside its content. */
export function frameTokens({ messages }: ChatRequest): Tokens {
  return MESSAGE_TOKENS * messages.length + ANSWER_TOKENS;
}

/** The text of a chat, as it goes over the wire. */
export function chatText(request: ChatRequest): PromptText {
  const texts: string[] = [];
  let [pictures, names] = [0, 0];
  for (const { content, name } of request.messages) {
    if (typeof name === 'string') {
      texts.push(name);
      names += 1;
    }
    for (const part of Array.isArray(content) ? (content as readonly unknown[]) : [content]) {
      if (typeof part === 'string') texts.push(part);
      else if (typeof part === 'object' && part !== null) {
        if ('text' in part && typeof part.text === 'string') texts.push(part.text);
        else pictures += 1;
      }
    }
  }
  const rendered = [
    ...request.messages.map((message) => message['tool_calls']),
    ...['tools', 'response_format'].map((field) => request.json[field]),
  ].filter((value) => value !== undefined && value !== null);
  texts.push(...rendered.map((value) => JSON.stringify(value)));
  return {
    texts,
    besideText: frameTokens(request) + names + pictures * PICTURE_TOKENS,
    isWhole: pictures === 0 && rendered.length === 0,
  };
}

/** The texts of a request for embeddings; what its caller tokenized itself is counted already. */
export function embeddingText({ texts, tokens }: EmbeddingRequest): PromptText {
  return { texts, besideText: tokens, isWhole: true };
}
