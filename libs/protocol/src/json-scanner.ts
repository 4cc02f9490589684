const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;

/** Where a member of an object stands in the bytes; ends are exclusive. */
export interface MemberSpan {
  /** Decoded: `"mod\u0065l"` is `model`. */
  readonly key: string;
  readonly valueStart: number;
  readonly valueEnd: number;
}

/** Where an element of an array stands in the bytes. */
export interface ElementSpan {
  readonly start: number;
  readonly end: number;
}

/**
 * The members of the object that starts at `start`, in their order, duplicates included; nested objects are skipped.
 * @param json  bytes that JSON.parse accepted: nothing is validated here
 * @param start where to look for the opening brace; blanks before it are skipped
 */
export function memberSpans(json: Buffer, start = 0): readonly MemberSpan[] {
  const spans: MemberSpan[] = [];
  let at = skipBlanks(json, start) + 1;
  for (;;) {
    at = skipBlanks(json, at);
    if (at >= json.length || json[at] === CLOSE_BRACE) return spans;
    const keyEnd = stringEnd(json, at);
    const valueStart = skipBlanks(json, skipBlanks(json, keyEnd) + 1);
    const valueEnd = endOfValue(json, valueStart);
    spans.push({ key: decodeKey(json, at, keyEnd), valueStart, valueEnd });
    at = skipBlanks(json, valueEnd);
    if (json[at] === COMMA) at += 1;
  }
}

/**
 * Where the elements of the array that starts at `start` stand; ends are exclusive.
 * @param json bytes that JSON.parse accepted: nothing is validated here
 */
export function elementSpans(json: Buffer, start: number): readonly ElementSpan[] {
  const spans: ElementSpan[] = [];
  let at = skipBlanks(json, start) + 1;
  for (;;) {
    at = skipBlanks(json, at);
    if (at >= json.length || json[at] === CLOSE_BRACKET) return spans;
    const end = endOfValue(json, at);
    spans.push({ start: at, end });
    at = skipBlanks(json, end);
    if (json[at] === COMMA) at += 1;
  }
}

/** JSON's own blanks only: space, tab, LF, CR. */
export function skipBlanks(json: Buffer, start: number): number {
  let at = start;
  while (at < json.length && isBlank(json[at])) at += 1;
  return at;
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function decodeKey(json: Buffer, start: number, end: number): string {
  const spelled = json.toString('utf8', start, end);
  if (!spelled.includes('\\')) return spelled.slice(1, -1);
  const decoded: unknown = JSON.parse(spelled);
  return typeof decoded === 'string' ? decoded : '';
}

/** @param start the opening quote. Searches natively: message texts can be megabytes long. */
function stringEnd(json: Buffer, start: number): number {
  let quote = json.indexOf(QUOTE, start + 1);
  while (quote !== -1 && isEscaped(json, quote)) quote = json.indexOf(QUOTE, quote + 1);
  return quote === -1 ? json.length : quote + 1;
}

function isEscaped(json: Buffer, quote: number): boolean {
  let backslashes = 0;
  while (json[quote - 1 - backslashes] === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}

function endOfValue(json: Buffer, start: number): number {
  const first = json[start];
  if (first === QUOTE) return stringEnd(json, start);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return containerEnd(json, start);
  let at = start;
  while (at < json.length && !endsScalar(json[at])) at += 1;
  return at;
}

function endsScalar(byte: number | undefined): boolean {
  return isBlank(byte) || byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || byte === COLON;
}

function containerEnd(json: Buffer, start: number): number {
  let depth = 0;
  for (let at = start; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === QUOTE) at = stringEnd(json, at) - 1;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth -= 1;
    if (depth === 0) return at + 1;
  }
  return json.length;
}
