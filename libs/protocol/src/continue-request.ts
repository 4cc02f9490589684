import type { Tokens } from '@weir/kernel';
import { replaceValue, spansOf, type Edit } from './json-edits.js';
import { elementSpans, memberSpans, type ElementSpan, type MemberSpan } from './json-scanner.js';

/** What an answer has said already. */
export interface Continuation {
  /** The text so far; the provider is to go on right after it. */
  readonly text: string;
  /** Its tokens, taken from the limits that the caller set. Must be less than these. */
  readonly tokens: Tokens;
}

/**
 * The text so far as the beginning of the assistant's own message, and less left to say. Where the caller's messages
 * end with such a beginning already, it grows: two assistant messages in a row would be another question.
 */
export function continuationEdits(
  json: Buffer,
  members: readonly MemberSpan[],
  continuation: Continuation,
): readonly Edit[] {
  const limits = [...spansOf(members, 'max_tokens'), ...spansOf(members, 'max_completion_tokens')];
  return [
    ...limits.flatMap((span) => limitEdits(json, span, continuation.tokens)),
    ...spansOf(members, 'messages').flatMap((span) => messageEdits(json, span, continuation.text)),
  ];
}

function limitEdits(json: Buffer, span: MemberSpan, spent: Tokens): readonly Edit[] {
  const limit: unknown = JSON.parse(json.toString('utf8', span.valueStart, span.valueEnd));
  return typeof limit === 'number' ? [replaceValue(span, String(limit - spent))] : [];
}

function messageEdits(json: Buffer, messages: MemberSpan, text: string): readonly Edit[] {
  const last = elementSpans(json, messages.valueStart).at(-1);
  const begun = last === undefined ? undefined : begunContent(json, last);
  if (begun === undefined) {
    const at = messages.valueEnd - 1;
    return [{ start: at, end: at, text: `,{"role":"assistant","content":${JSON.stringify(text)}}` }];
  }
  const at = begun.valueEnd - 1;
  return [{ start: at, end: at, text: grown(json, begun, text) }];
}

/** The content of an assistant's message that was begun by the caller: a string, or a list of parts. */
function begunContent(json: Buffer, message: ElementSpan): MemberSpan | undefined {
  const members = memberSpans(json, message.start);
  const role = spansOf(members, 'role').at(-1);
  if (role === undefined || json.toString('utf8', role.valueStart, role.valueEnd) !== '"assistant"')
    return undefined;
  const content = spansOf(members, 'content').at(-1);
  const first =
    content === undefined ? '' : json.toString('latin1', content.valueStart, content.valueStart + 1);
  return first === '"' || first === '[' ? content : undefined;
}

/** What goes in before the closing quote or bracket. */
function grown(json: Buffer, content: MemberSpan, text: string): string {
  const quoted = JSON.stringify(text);
  if (json[content.valueStart] === 0x22) return quoted.slice(1, -1);
  const comma = elementSpans(json, content.valueStart).length > 0 ? ',' : '';
  return `${comma}{"type":"text","text":${quoted}}`;
}
