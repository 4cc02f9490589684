import { z } from 'zod';
import type { Tokens } from '@weir/kernel';
import { countTokens } from './transcript.js';

const part = z.looseObject({ type: z.string(), text: z.string().optional() });

const message = z.looseObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
  content: z.union([z.string(), z.array(part)]).nullish(),
});

const tool = z.looseObject({
  type: z.literal('function'),
  function: z.looseObject({
    name: z.string().min(1),
    parameters: z.record(z.string(), z.unknown()).optional(),
  }),
});

const toolChoice = z.union([
  z.enum(['none', 'auto', 'required']),
  z.looseObject({ type: z.literal('function'), function: z.looseObject({ name: z.string().min(1) }) }),
]);

const limit = z.int().positive().nullish();

/** The part of an OpenAI chat request that decides the answer (as documented in 2026-11); other fields pass. */
export const ChatRequest = z
  .looseObject({
    model: z.string().min(1),
    messages: z.array(message).nonempty(),
    stream: z.boolean().nullish(),
    stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
    max_tokens: limit,
    max_completion_tokens: limit,
    temperature: z.number().min(0).max(2).nullish(),
    top_p: z.number().min(0).max(1).nullish(),
    tools: z.array(tool).nullish(),
    tool_choice: toolChoice.nullish(),
  })
  .refine((request) => !request.stream_options || request.stream === true, {
    path: ['stream_options'],
    error: 'is only allowed where stream is true',
  });

/** A chat request that was found well formed. */
export type ChatRequest = z.infer<typeof ChatRequest>;
type Message = z.infer<typeof message>;

/** What a part that is no text counts. */
const TOKENS_PER_MEDIA_PART: Tokens = 85;
/** Role and separators of a message; the same again once for the answer's own opening. */
const TOKENS_PER_MESSAGE: Tokens = 3;

/** The visible text of a message. */
export function textOf({ content }: Message): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map(({ text = '' }) => text).join('');
}

/** Tokens of a whole prompt: the texts by bytes, 3 a message, 3 for the answer, 85 for media, tools as JSON. */
export function countPrompt({ messages, tools }: ChatRequest): Tokens {
  const each = messages.map((said) => {
    const parts = Array.isArray(said.content) ? said.content : [];
    const media = parts.filter(({ text }) => text === undefined).length;
    return TOKENS_PER_MESSAGE + countTokens(textOf(said)) + media * TOKENS_PER_MEDIA_PART;
  });
  const declared = tools ? countTokens(JSON.stringify(tools)) : 0;
  return each.reduce((sum, tokens) => sum + tokens, TOKENS_PER_MESSAGE + declared);
}
