import { createHash } from 'node:crypto';
import type { Tokens } from '@weir/kernel';
import { plainAnswer, type Answer, type Frame, type HeaderMap } from './answer.js';
import type { Utterance } from './utterance.js';

/** Tells what text was sent, as hexadecimal SHA-256 of its UTF-8: a header, or a comment in the last frame. */
export const TEXT_HASH = 'x-sim-text-sha256';

/** What an answer says about itself. */
export interface Envelope {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly model: string;
  readonly promptTokens: Tokens;
  /** Whether a plain answer has `usage`, and a stream a chunk for it. */
  readonly tellsUsage: boolean;
}

/** The whole answer as one `chat.completion`. */
export function plainChat(utterance: Utterance, envelope: Envelope, headers: HeaderMap): Answer {
  const pieces = [...utterance.pieces()].join('');
  const { tool } = utterance;
  const message = tool
    ? { content: null, tool_calls: [{ ...toolCall(tool), function: { name: tool.name, arguments: pieces } }] }
    : { content: pieces };
  const body = {
    ...head(envelope, 'chat.completion'),
    choices: [
      {
        index: 0,
        message: { role: 'assistant', ...message, refusal: null },
        logprobs: null,
        finish_reason: utterance.finish,
      },
    ],
    ...(envelope.tellsUsage && { usage: usage(envelope.promptTokens, utterance.tokens) }),
  };
  const frame = { bytes: JSON.stringify(body), tokens: utterance.tokens };
  const hash = createHash('sha256')
    .update(tool ? '' : pieces)
    .digest('hex');
  return plainAnswer(200, frame, { 'content-type': 'application/json', ...headers, [TEXT_HASH]: hash });
}

/** The answer as a stream of `chat.completion.chunk`s. */
export function streamedChat(utterance: Utterance, envelope: Envelope, headers: HeaderMap): Answer {
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache', ...headers },
    streams: true,
    frames: chatFrames(utterance, envelope),
  };
}

/** Role, content, finish, usage where it is wanted, and `[DONE]` with the hash. */
function* chatFrames(utterance: Utterance, envelope: Envelope): Generator<Frame> {
  const { tool } = utterance;
  const hash = createHash('sha256');
  const start = `data: ${JSON.stringify(head(envelope, 'chat.completion.chunk')).slice(0, -1)},"choices":`;
  const choice = (delta: string, finish: string | null): string =>
    `${start}[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${JSON.stringify(finish)}}]}\n\n`;

  yield { bytes: choice(JSON.stringify(opening(tool)), null), tokens: 0 };
  const [before, after] = tool ? ARGUMENTS_DELTA : CONTENT_DELTA;
  const piece = `${start}[{"index":0,"delta":${before}`;
  const rest = `${after},"logprobs":null,"finish_reason":null}]}\n\n`;
  for (const text of utterance.pieces()) {
    if (!tool) hash.update(text);
    yield { bytes: piece + JSON.stringify(text) + rest, tokens: 1 };
  }
  yield { bytes: choice('{}', utterance.finish), tokens: 0 };
  if (envelope.tellsUsage) {
    const told = JSON.stringify(usage(envelope.promptTokens, utterance.tokens));
    yield { bytes: `${start}[],"usage":${told}}\n\n`, tokens: 0 };
  }
  yield { bytes: `: ${TEXT_HASH} ${hash.digest('hex')}\ndata: [DONE]\n\n`, tokens: 0 };
}

/** What stands before and after a piece in its delta. */
const CONTENT_DELTA = ['{"content":', '}'] as const;
const ARGUMENTS_DELTA = ['{"tool_calls":[{"index":0,"function":{"arguments":', '}}]}'] as const;

function opening(tool: Utterance['tool']) {
  if (!tool) return { role: 'assistant', content: '', refusal: null };
  const call = { index: 0, ...toolCall(tool), function: { name: tool.name, arguments: '' } };
  return { role: 'assistant', content: null, tool_calls: [call] };
}

function toolCall({ id }: { readonly id: string }) {
  return { id, type: 'function' };
}

function head({ id, created, model }: Envelope, object: string) {
  return { id, object, created, model, service_tier: 'default', system_fingerprint: 'fp_sim' };
}

function usage(prompt: Tokens, completion: Tokens) {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
}
