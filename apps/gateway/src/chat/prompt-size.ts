import { GatewayError } from '@weir/kernel';
import type { ChatRequest } from '@weir/protocol';

/** What an image counts as, in characters: about a thousand tokens, in the middle of what providers charge (2026-11). */
const IMAGE_CHARACTERS = 4000;

/**
 * How long a prompt is, in characters that a provider will count: text, tool calls and tool definitions.
 * Pictures and sound in base64 are not text, so their length says nothing.
 * @throws GatewayError `invalid_request` where one of them is nested beyond measure
 */
export function promptCharacters(request: ChatRequest): number {
  let sum = 0;
  request.messages.forEach((message, index) => {
    sum += contentCharacters(message['content']);
    sum += jsonCharacters(message['tool_calls'], `messages[${index}].tool_calls`);
  });
  for (const field of ['tools', 'response_format']) sum += jsonCharacters(request.json[field], field);
  return sum;
}

function contentCharacters(content: unknown): number {
  if (typeof content === 'string') return content.length;
  if (!Array.isArray(content)) return 0;
  let sum = 0;
  for (const part of content as readonly unknown[]) {
    if (typeof part !== 'object' || part === null) continue;
    sum += 'text' in part && typeof part.text === 'string' ? part.text.length : IMAGE_CHARACTERS;
  }
  return sum;
}

/** `JSON.parse` takes any depth, `JSON.stringify` does not. */
function jsonCharacters(value: unknown, param: string): number {
  if (value === undefined || value === null) return 0;
  try {
    return JSON.stringify(value).length;
  } catch (cause) {
    throw new GatewayError('invalid_request', `\`${param}\` is nested too deeply. Send fewer levels.`, {
      param,
      cause,
    });
  }
}
