import type { Target } from '@weir/kernel';
import { rewriteRequest } from '@weir/protocol';
import type { Resume } from '@weir/upstream';
import type { ChatCall } from '../chat-call.js';
import type { DeliveredText } from './delivered-text.js';

/**
 * The call with which a broken answer is asked again, from whichever account has the same model: another model would
 * say something else.
 */
export function callForTheWhole(call: ChatCall, target: Target, resume: Resume): ChatCall {
  const others = [...call.targets, ...call.fallback].filter(
    (other) => other !== target && other.model === target.model,
  );
  return { ...call, targets: [target, ...others], fallback: [], resume };
}

/**
 * The same for what is left of it, behind the text so far. A chunk is taken for a token: where it holds several, the
 * answer may come out longer than the caller's limit, but is never cut short.
 * @returns undefined where the caller's limit is reached, so that nothing may follow
 */
export function callForTheRest(whole: ChatCall, delivered: DeliveredText): ChatCall | undefined {
  const { request, cost } = whole;
  const { text, chunks: tokens } = delivered;
  if (request.maxTokens !== undefined && request.maxTokens <= tokens) return undefined;
  const bytes = rewriteRequest(request.bytes, { continuation: { text, tokens } });
  return {
    ...whole,
    request: { ...request, bytes },
    characters: whole.characters + text.length,
    cost: {
      inputTokens: cost.inputTokens + tokens,
      outputTokens: Math.max(1, cost.outputTokens - tokens),
    },
  };
}
