import { asBuffer } from './json-value.js';
import { memberSpans, skipBlanks, type MemberSpan } from './json-scanner.js';

/** What the gateway may change in a request. */
export interface RequestChanges {
  /** The provider's name for the model. */
  readonly model?: string;
  /** Ask for the usage chunk. */
  readonly includeUsage?: boolean;
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const INCLUDE_USAGE = '"include_usage":true';

/**
 * The body with these changes, every other byte as it was: number formats, blanks, unknown and repeated fields.
 * Where a field stands there more than once every one is changed, as decoders differ in which one they take.
 * @param body a JSON object that JSON.parse accepted
 */
export function rewriteRequest(body: Uint8Array, changes: RequestChanges): Uint8Array {
  const json = asBuffer(body);
  const members = memberSpans(json);
  const edits: Edit[] = [];
  if (changes.model !== undefined) edits.push(...modelEdits(members, changes.model));
  if (changes.includeUsage === true) edits.push(...usageEdits(json, members));
  return splice(json, edits);
}

function modelEdits(members: readonly MemberSpan[], model: string): readonly Edit[] {
  const text = JSON.stringify(model);
  return spansOf(members, 'model').map((span) => ({ start: span.valueStart, end: span.valueEnd, text }));
}

function usageEdits(json: Buffer, members: readonly MemberSpan[]): readonly Edit[] {
  const options = spansOf(members, 'stream_options');
  if (options.length > 0) return options.flatMap((span) => optionEdits(json, span));
  return [afterBrace(json, 0, members.length > 0, `"stream_options":{${INCLUDE_USAGE}}`)];
}

function optionEdits(json: Buffer, span: MemberSpan): readonly Edit[] {
  if (json[span.valueStart] !== 0x7b) {
    return [{ start: span.valueStart, end: span.valueEnd, text: `{${INCLUDE_USAGE}}` }];
  }
  const members = memberSpans(json, span.valueStart);
  const flags = spansOf(members, 'include_usage');
  if (flags.length === 0) return [afterBrace(json, span.valueStart, members.length > 0, INCLUDE_USAGE)];
  return flags.map((flag) => ({ start: flag.valueStart, end: flag.valueEnd, text: 'true' }));
}

function afterBrace(json: Buffer, start: number, hasMembers: boolean, member: string): Edit {
  const at = skipBlanks(json, start) + 1;
  return { start: at, end: at, text: hasMembers ? `${member},` : member };
}

function spansOf(members: readonly MemberSpan[], key: string): readonly MemberSpan[] {
  return members.filter((member) => member.key === key);
}

function splice(json: Buffer, edits: readonly Edit[]): Uint8Array {
  const parts: Buffer[] = [];
  let at = 0;
  for (const edit of [...edits].sort((a, b) => a.start - b.start)) {
    parts.push(json.subarray(at, edit.start), Buffer.from(edit.text));
    at = edit.end;
  }
  return parts.length === 0 ? json : Buffer.concat([...parts, json.subarray(at)]);
}
