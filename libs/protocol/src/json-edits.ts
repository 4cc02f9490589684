import type { MemberSpan } from './json-scanner.js';

/** One replacement in JSON text; `end` is exclusive, and equal to `start` where something is put in. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The bytes with these edits, every other byte as it was. The edits must not overlap. */
export function applyEdits(json: Buffer, edits: readonly Edit[]): Buffer {
  const parts: Buffer[] = [];
  let at = 0;
  for (const edit of [...edits].sort((a, b) => a.start - b.start)) {
    parts.push(json.subarray(at, edit.start), Buffer.from(edit.text));
    at = edit.end;
  }
  return parts.length === 0 ? json : Buffer.concat([...parts, json.subarray(at)]);
}

/** The member's value, replaced. */
export function replaceValue(span: MemberSpan, text: string): Edit {
  return { start: span.valueStart, end: span.valueEnd, text };
}

/** Every member of that name: decoders differ in which of several they take. */
export function spansOf(members: readonly MemberSpan[], key: string): readonly MemberSpan[] {
  return members.filter((member) => member.key === key);
}
