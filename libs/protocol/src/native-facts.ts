import type { ChoiceFacts, CompletionFacts } from './facts.js';
import { elementsOf, isRecord } from './json-value.js';
import { readUsage } from './usage.js';

type Json = Readonly<Record<string, unknown>>;
type NativeFacts = Pick<CompletionFacts, 'choices' | 'usage' | 'ended'>;

/**
 * The providers' own shapes, which relays sometimes let through on the OpenAI path:
 * Gemini (`candidates`), Anthropic and Cohere v2 (events with a `type`). Read 2026-11.
 */
export function nativeFacts(json: Json): NativeFacts {
  if (Array.isArray(json['candidates'])) return gemini(json, json['candidates']);
  return typed(json);
}

function gemini(json: Json, candidates: readonly unknown[]): NativeFacts {
  const choices = candidates.filter(isRecord).map((candidate) => {
    const content = candidate['content'];
    const parts = isRecord(content) ? elementsOf(content['parts']).filter(isRecord) : [];
    const shown = parts.filter((part) => part['thought'] !== true).map((part) => text(part['text']));
    const all = parts.map((part) => text(part['text'])).join('');
    const visible = parts.some((part) => text(part['text']) !== '' || isRecord(part['functionCall']));
    return { ...choice(shown.join(''), all, candidate['finishReason']), visible, index: indexOf(candidate) };
  });
  return { choices, usage: readUsage(json['usageMetadata']), ended: false };
}

/** Anthropic's and Cohere's events and whole messages. */
function typed(json: Json): NativeFacts {
  const type = text(json['type']).replaceAll('-', '_');
  const delta = isRecord(json['delta']) ? json['delta'] : {};
  const message = isRecord(json['message']) ? json['message'] : {};
  const shown =
    type === 'content_delta' ? cohereText(delta) : text(delta['text']) + wholeText(json['content']);
  const all = shown + text(delta['thinking']) + text(delta['partial_json']);
  const finish = delta['stop_reason'] ?? delta['finish_reason'] ?? json['stop_reason'];
  const usage = readUsage(json['usage']) ?? readUsage(delta['usage']) ?? readUsage(message['usage']);
  const speaks = all !== '' || typeof finish === 'string';
  return {
    choices: speaks ? [choice(shown, all, finish)] : [],
    usage,
    ended: type === 'message_stop' || type === 'message_end',
  };
}

function cohereText(delta: Json): string {
  const message = delta['message'];
  const content = isRecord(message) ? message['content'] : undefined;
  return isRecord(content) ? text(content['text']) : '';
}

function wholeText(content: unknown): string {
  return elementsOf(content)
    .map((block) => (isRecord(block) && block['type'] === 'text' ? text(block['text']) : ''))
    .join('');
}

function choice(shown: string, all: string, finish: unknown): ChoiceFacts {
  const finishReason = typeof finish === 'string' && finish !== '' ? finish : undefined;
  return { index: 0, text: shown, visibleBytes: Buffer.byteLength(all), visible: all !== '', finishReason };
}

function indexOf(candidate: Json): number {
  return typeof candidate['index'] === 'number' ? candidate['index'] : 0;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
