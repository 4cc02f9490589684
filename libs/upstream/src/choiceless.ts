import { isRecord } from '@weir/protocol';
import { ownNumber } from './own-numbers.js';
import { statusOf } from './refusal.js';

type Json = Readonly<Record<string, unknown>>;

/**
 * What a success without `choices` and without `error` is:
 * - `answer`: something other than chat (embeddings), or a shape of the provider's own: passed on as it came;
 * - `refusal`: a number of HTTP's or of the provider's own says no;
 * - `complaint`: other signs of a no, which are one where nothing better follows;
 * - `nothing`: the rest.
 */
export type Choiceless = 'answer' | 'refusal' | 'complaint' | 'nothing';

const CODE_FIELDS = ['code', 'status', 'status_code', 'statusCode', 'error_code'];
const PROSE_FIELDS = ['message', 'msg', 'detail', 'title', 'errors', 'error_msg', 'error'];
/** Where providers put what they made, besides `choices` (read 2026-11). */
const ANSWER_FIELDS = [
  ...['content', 'candidates', 'output', 'outputs', 'result', 'results', 'response', 'generations'],
  ...['completion', 'text', 'generated_text', 'promptFeedback'],
];
/** How codes and states spell that all is well. */
const WELL = /^(0|2\d\d|true|ok|success(ful)?|succeeded|completed?|normal)?$/i;

/** Reads a body or an event that has no choices. */
export function readChoiceless(json: Json): Choiceless {
  const own = ownNumber(json);
  const codes = [...CODE_FIELDS.map((field) => json[field]), own].filter(isCode);
  if ((isCode(own) && !isWell(own)) || codes.some((code) => statusOf(code) !== undefined)) return 'refusal';
  if (holdsAnswer(json)) return 'answer';
  if (json['success'] === false || !codes.every(isWell)) return 'complaint';
  return codes.length === 0 && PROSE_FIELDS.some((field) => holds(json[field])) ? 'complaint' : 'nothing';
}

function isCode(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}

function isWell(code: string | number): boolean {
  return WELL.test(String(code));
}

function holdsAnswer(json: Json): boolean {
  const { data, message } = json;
  if (Array.isArray(data) && data.length > 0) return true;
  if (isRecord(message) && ('content' in message || 'role' in message)) return true;
  return ANSWER_FIELDS.some((field) => holds(json[field]));
}

function holds(value: unknown): boolean {
  if (typeof value === 'string' || Array.isArray(value)) return value.length > 0;
  return value === true || (isRecord(value) && Object.keys(value).length > 0);
}
