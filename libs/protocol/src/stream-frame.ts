import { completionFacts } from './completion-facts.js';
import type { CompletionFacts } from './facts.js';
import { applyEdits, replaceValue, spansOf, type Edit } from './json-edits.js';
import { elementSpans, memberSpans, type MemberSpan } from './json-scanner.js';
import { elementsOf, isRecord, parseJson } from './json-value.js';
import { SseDecoder, type SseEvent } from './sse-decoder.js';
import { encodeSseEvent } from './sse-encoder.js';
import type { TokenUsage } from './usage.js';

type Json = Readonly<Record<string, unknown>>;

/** What one frame of a stream adds to the answer. */
export type FrameReading =
  /** Comments, pings, whatever is no chunk. */
  | { readonly kind: 'nothing' }
  /** `[DONE]`. */
  | { readonly kind: 'done' }
  | ({ readonly kind: 'chunk' } & ChunkReading);

/** A chunk, as far as it matters where two streams are joined. */
export interface ChunkReading {
  /** Text of the only choice; empty for a role, a finish, usage. */
  readonly text: string;
  /** False where it brings anything but text of one choice: tools, reasoning, a second choice, another dialect. */
  readonly onlyText: boolean;
  readonly finished: boolean;
  readonly identity: StreamIdentity;
}

/** What tells one stream from another; the same in each of its chunks. */
export interface StreamIdentity {
  readonly id?: string;
  readonly created?: number;
}

/** What may be changed in a chunk. */
export interface FrameChanges {
  /** Instead of its text. */
  readonly text?: string;
  /** Instead of its own, where it has one. */
  readonly identity?: StreamIdentity;
  /** Added to the numbers that it reports. */
  readonly usage?: Pick<TokenUsage, 'inputTokens' | 'outputTokens'>;
}

/** Reads one whole frame. Costs a JSON.parse, so it is for streams that may have to be joined only. */
export function readFrame(bytes: Uint8Array): FrameReading {
  const data = eventOf(bytes)?.data;
  if (data === undefined) return { kind: 'nothing' };
  const text = data.toString('utf8');
  const json = parseJson(text);
  if (isRecord(json)) return chunkReading(json);
  return { kind: text.trim().startsWith('[DONE]') ? 'done' : 'nothing' };
}

/** The frame with these changes, every other byte as it was; a frame that is no chunk is returned as it is. */
export function rewriteFrame(bytes: Uint8Array, changes: FrameChanges): Uint8Array {
  const event = eventOf(bytes);
  if (event?.data === undefined || !isRecord(parseJson(event.data.toString('utf8')))) return bytes;
  const { data } = event;
  const rewritten = applyEdits(data, editsOf(data, changes));
  const at = event.bytes.indexOf(data);
  // JSON over several lines does not stand in the frame as it reads: the event is written anew.
  if (at === -1) return encodeSseEvent(rewritten.toString('utf8'), event.event);
  return Buffer.concat([event.bytes.subarray(0, at), rewritten, event.bytes.subarray(at + data.length)]);
}

function eventOf(bytes: Uint8Array): SseEvent | undefined {
  const decoder = new SseDecoder();
  let found: SseEvent | undefined;
  const take = (event: SseEvent): void => {
    found ??= event;
  };
  decoder.push(bytes, take);
  decoder.end(take);
  return found;
}

function chunkReading(json: Json): FrameReading {
  const facts = completionFacts(json);
  const [choice] = facts.choices;
  return {
    kind: 'chunk',
    text: choice?.text ?? '',
    onlyText: isOnlyText(json, facts),
    finished: choice?.finishReason !== undefined || facts.ended,
    identity: {
      ...(facts.id === undefined ? {} : { id: facts.id }),
      ...(typeof json['created'] === 'number' ? { created: json['created'] } : {}),
    },
  };
}

/** Text that is not one plain string of the first choice could not be cut in the middle. */
function isOnlyText(json: Json, { choices }: CompletionFacts): boolean {
  const [choice, another] = choices;
  if (choice === undefined) return true;
  if (another !== undefined || choice.index !== 0) return false;
  if (!choice.visible) return true;
  if (choice.text === '' || choice.visibleBytes !== Buffer.byteLength(choice.text)) return false;
  const [first] = elementsOf(json['choices']);
  const delta = isRecord(first) ? first['delta'] : undefined;
  return isRecord(delta) && typeof delta['content'] === 'string' && !('tool_calls' in delta);
}

function editsOf(json: Buffer, { text, identity, usage }: FrameChanges): readonly Edit[] {
  const members = memberSpans(json);
  const values = Object.entries({ id: identity?.id, created: identity?.created });
  return [
    ...values.flatMap(([key, value]) =>
      value === undefined
        ? []
        : spansOf(members, key).map((span) => replaceValue(span, JSON.stringify(value))),
    ),
    ...(text === undefined ? [] : textEdits(json, members, text)),
    ...(usage === undefined
      ? []
      : spansOf(members, 'usage').flatMap((span) => usageEdits(json, span, usage))),
  ];
}

function textEdits(json: Buffer, members: readonly MemberSpan[], text: string): readonly Edit[] {
  return spansOf(members, 'choices')
    .flatMap((choices) => elementSpans(json, choices.valueStart).slice(0, 1))
    .flatMap((choice) => spansOf(memberSpans(json, choice.start), 'delta'))
    .flatMap((delta) => spansOf(memberSpans(json, delta.valueStart), 'content'))
    .map((content) => replaceValue(content, JSON.stringify(text)));
}

function usageEdits(
  json: Buffer,
  span: MemberSpan,
  extra: NonNullable<FrameChanges['usage']>,
): readonly Edit[] {
  if (json[span.valueStart] !== 0x7b) return [];
  const input = extra.inputTokens ?? 0;
  const output = extra.outputTokens ?? 0;
  const added = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
  const members = memberSpans(json, span.valueStart);
  return Object.entries(added).flatMap(([key, more]) =>
    spansOf(members, key).flatMap((member) => {
      const value: unknown = JSON.parse(json.toString('utf8', member.valueStart, member.valueEnd));
      return typeof value === 'number' ? [replaceValue(member, String(value + more))] : [];
    }),
  );
}
