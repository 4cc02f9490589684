import { elementsOf, isRecord } from './json-value.js';
import type { ChoiceFacts, CompletionFacts } from './facts.js';
import { nativeFacts } from './native-facts.js';
import { readUsage, type TokenUsage } from './usage.js';

type Json = Readonly<Record<string, unknown>>;

/** Reads a decoded chunk or completion: OpenAI's shape, else the providers' own. Never throws. */
export function completionFacts(json: Json): CompletionFacts {
  const choices = json['choices'];
  if (!Array.isArray(choices)) return { ...identity(json), ...nativeFacts(json), usageOnly: false };
  const usage = openAiUsage(json);
  return {
    ...identity(json),
    choices: choices.filter(isRecord).map(choiceFacts),
    usage,
    usageOnly: choices.length === 0 && usage !== undefined,
    ended: false,
  };
}

function identity(json: Json): { id: string | undefined; model: string | undefined } {
  return { id: nonEmpty(json['id']), model: nonEmpty(json['model']) };
}

/** Groq put the numbers under a name of its own first (seen up to 2026-11). */
function openAiUsage(json: Json): TokenUsage | undefined {
  const groq = json['x_groq'];
  return readUsage(json['usage']) ?? (isRecord(groq) ? readUsage(groq['usage']) : undefined);
}

function choiceFacts(choice: Json): ChoiceFacts {
  const index = typeof choice['index'] === 'number' ? choice['index'] : 0;
  const finishReason = nonEmpty(choice['finish_reason']);
  const output = choice['delta'] ?? choice['message'];
  if (!isRecord(output)) {
    const text = textOf(choice['text']);
    return { index, text, visibleBytes: Buffer.byteLength(text), visible: text !== '', finishReason };
  }
  const text = contentText(output['content']);
  const visibleBytes =
    Buffer.byteLength(text) + hiddenBytes(output) + thinkingBytes(output['content']) + toolBytes(output);
  const visible = visibleBytes > 0 || SHOWN_WITHOUT_TEXT.some((field) => holdsSomething(output[field]));
  return { index, text, visibleBytes, visible, finishReason };
}

const SHOWN_WITHOUT_TEXT = ['tool_calls', 'audio', 'images'] as const;

function holdsSomething(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : isRecord(value);
}

/** Content is a string, or a list of parts (Mistral). */
function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return elementsOf(content)
    .map((part) => (isRecord(part) ? textOf(part['text']) : textOf(part)))
    .join('');
}

function thinkingBytes(content: unknown): number {
  let bytes = 0;
  for (const part of elementsOf(content)) {
    if (isRecord(part)) bytes += Buffer.byteLength(contentText(part['thinking']));
  }
  return bytes;
}

/** Reasoning is output that is paid for, and many callers show it; two names for the same text count once. */
function hiddenBytes(output: Json): number {
  const reasoning = textOf(output['reasoning_content']) || textOf(output['reasoning']);
  return Buffer.byteLength(reasoning) + Buffer.byteLength(textOf(output['refusal']));
}

function toolBytes(output: Json): number {
  let bytes = callBytes(output['function_call']);
  for (const call of elementsOf(output['tool_calls'])) {
    if (isRecord(call)) bytes += callBytes(call['function']);
  }
  return bytes;
}

function callBytes(call: unknown): number {
  if (!isRecord(call)) return 0;
  return Buffer.byteLength(textOf(call['name'])) + Buffer.byteLength(textOf(call['arguments']));
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function nonEmpty(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
