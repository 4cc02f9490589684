import { continuationEdits, type Continuation } from './continue-request.js';
import { applyEdits, replaceValue, spansOf, type Edit } from './json-edits.js';
import { asBuffer } from './json-value.js';
import { memberSpans, skipBlanks, type MemberSpan } from './json-scanner.js';

/** What the gateway may change in a request. */
export interface RequestChanges {
  /** The provider's name for the model. */
  readonly model?: string;
  /** Ask for the usage chunk. */
  readonly includeUsage?: boolean;
  /** Ask for the rest of an answer that has begun. */
  readonly continuation?: Continuation;
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
  if (changes.continuation !== undefined)
    edits.push(...continuationEdits(json, members, changes.continuation));
  return applyEdits(json, edits);
}

function modelEdits(members: readonly MemberSpan[], model: string): readonly Edit[] {
  const text = JSON.stringify(model);
  return spansOf(members, 'model').map((span) => replaceValue(span, text));
}

function usageEdits(json: Buffer, members: readonly MemberSpan[]): readonly Edit[] {
  const options = spansOf(members, 'stream_options');
  if (options.length > 0) return options.flatMap((span) => optionEdits(json, span));
  return [afterBrace(json, 0, members.length > 0, `"stream_options":{${INCLUDE_USAGE}}`)];
}

function optionEdits(json: Buffer, span: MemberSpan): readonly Edit[] {
  if (json[span.valueStart] !== 0x7b) {
    return [replaceValue(span, `{${INCLUDE_USAGE}}`)];
  }
  const members = memberSpans(json, span.valueStart);
  const flags = spansOf(members, 'include_usage');
  if (flags.length === 0) return [afterBrace(json, span.valueStart, members.length > 0, INCLUDE_USAGE)];
  return flags.map((flag) => replaceValue(flag, 'true'));
}

function afterBrace(json: Buffer, start: number, hasMembers: boolean, member: string): Edit {
  const at = skipBlanks(json, start) + 1;
  return { start: at, end: at, text: hasMembers ? `${member},` : member };
}
