import type { ChatRequest } from '@weir/protocol';

/** What an image counts as, in characters: about a thousand tokens, in the middle of what providers charge (2026-11). */
const IMAGE_CHARACTERS = 4000;

/**
 * How long a prompt is, in characters that a provider will count: text, tool calls and tool definitions.
 * Pictures and sound in base64 are not text, so their length says nothing.
 */
export function promptCharacters(request: ChatRequest): number {
  let sum = 0;
  for (const message of request.messages)
    sum += contentCharacters(message['content']) + jsonCharacters(message['tool_calls']);
  return sum + jsonCharacters(request.json['tools']) + jsonCharacters(request.json['response_format']);
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

function jsonCharacters(value: unknown): number {
  return value === undefined || value === null ? 0 : JSON.stringify(value).length;
}
