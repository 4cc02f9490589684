import { elementsOf, isRecord, parseJson } from '@weir/protocol';
import { ownStatus } from './own-numbers.js';

/** Response headers, names in lower case. */
export type Headers = Readonly<Record<string, string>>;

/** A provider's answer that is no success, as it came. */
export interface RefusedAnswer {
  /** The HTTP status; 2xx where the refusal was inside a success. */
  readonly httpStatus: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

/** What a refusal says, whatever container it came in. Texts in it may quote prompts: they never leave this library. */
export interface Refusal {
  readonly httpStatus: number;
  /** The HTTP status, or what the body amounts to where that is a success. */
  readonly status: number;
  readonly html: boolean;
  /** Headers, and those that OpenRouter repeats in the body. */
  readonly headers: Headers;
  /** Every code, type, reason and status word, in lower case. */
  readonly ids: ReadonlySet<string>;
  /** The unwrapped prose; empty for HTML. */
  readonly text: string;
  /** Google's quota ids and metrics. */
  readonly quotas: readonly string[];
  /** Google's `retryDelay`. */
  readonly retryDelay: string | undefined;
  /** Seconds that a field of the body asks to wait. */
  readonly retryAfter: number | undefined;
  /** A field that names the time of the reset. */
  readonly resetsAt: string | undefined;
  /** OpenRouter's `availability.retryable`. */
  readonly retryable: boolean | undefined;
  /** A content rule, not a limit, said no. */
  readonly guardrail: boolean;
}

const MAX_DEPTH = 8;
const ID_FIELDS = ['code', 'type', 'status', 'error_type', 'reason', 'error_code', 'limit_source', '__type'];
/** Bedrock (with an address after a colon) and LiteLLM say it in a header. */
const ID_HEADERS = ['x-amzn-errortype', 'rate_limit_type'];
const STATUS_FIELDS = ['code', 'status_code', 'statusCode', 'raw_status_code', 'status'];
const NESTED_FIELDS = [
  ...['error', 'message', 'msg', 'err', 'error_msg', 'title', 'detail', 'details', 'errors'],
  ...['base_resp', 'status_msg'],
  ...['metadata', 'raw', 'availability', 'innererror', 'inner_error'],
];
const QUOTA_FIELDS = ['quotaId', 'quotaMetric', 'quota_limit', 'quota_metric'];

/** Unwraps every container that was seen (until 2026-11; test cases in fixtures/) into one value. */
export function readRefusal(answer: RefusedAnswer): Refusal {
  const body = answer.body.toString('utf8').trim();
  const html = body.startsWith('<') || (answer.headers['content-type'] ?? '').startsWith('text/html');
  const found = new Findings();
  if (!html) found.visit(body, 0);
  for (const name of ID_HEADERS) {
    const id = answer.headers[name]?.split(':')[0];
    if (id !== undefined) found.ids.add(id.toLowerCase());
  }
  const text = found.texts.join('\n');
  return {
    ...found.waits,
    httpStatus: answer.httpStatus,
    status: answer.httpStatus >= 300 ? answer.httpStatus : (found.status ?? inferStatus(found.ids, text)),
    html,
    headers: { ...found.headers, ...answer.headers },
    ids: found.ids,
    text,
    quotas: found.quotas,
    retryable: found.retryable,
    guardrail: found.guardrail,
  };
}

/** Collects while it walks down; the outermost status and wait win, as the inner ones may be quotations. */
class Findings {
  readonly ids = new Set<string>();
  readonly texts: string[] = [];
  readonly quotas: string[] = [];
  readonly headers: Record<string, string> = {};
  readonly waits: {
    retryDelay: string | undefined;
    retryAfter: number | undefined;
    resetsAt: string | undefined;
  } = {
    retryDelay: undefined,
    retryAfter: undefined,
    resetsAt: undefined,
  };
  status: number | undefined;
  retryable: boolean | undefined;
  guardrail = false;

  visit(value: unknown, depth: number): void {
    if (depth > MAX_DEPTH) return;
    if (typeof value === 'string') this.visitText(value, depth);
    else if (Array.isArray(value))
      for (const element of value.slice(0, MAX_DEPTH)) this.visit(element, depth + 1);
    else if (isRecord(value)) this.visitRecord(value, depth);
  }

  private visitText(value: string, depth: number): void {
    const text = value.trim();
    const json = text.startsWith('{') || text.startsWith('[') ? parseJson(text) : undefined;
    if (isRecord(json) || Array.isArray(json)) this.visit(json, depth + 1);
    else if (text !== '') this.texts.push(text);
  }

  private visitRecord(record: Readonly<Record<string, unknown>>, depth: number): void {
    for (const field of ID_FIELDS) this.addId(record[field]);
    for (const field of STATUS_FIELDS) this.status ??= statusOf(record[field]);
    this.status ??= ownStatus(record);
    for (const field of QUOTA_FIELDS) {
      const quota = record[field];
      if (typeof quota === 'string') this.quotas.push(quota);
    }
    this.noteWaits(record);
    this.noteSigns(record);
    for (const violation of elementsOf(record['violations'])) this.visit(violation, depth + 1);
    for (const field of NESTED_FIELDS) this.visit(record[field], depth + 1);
  }

  private addId(value: unknown): void {
    if (typeof value === 'string' || typeof value === 'number') this.ids.add(String(value).toLowerCase());
  }

  private noteWaits(record: Readonly<Record<string, unknown>>): void {
    const delay = record['retryDelay'];
    const after = Number(
      record['retry_after'] ?? record['retryAfter'] ?? Number(record['retry_after_ms']) / 1000,
    );
    const resets = record['resets_at'] ?? record['reset_at'];
    if (typeof delay === 'string') this.waits.retryDelay ??= delay;
    if (after > 0) this.waits.retryAfter ??= after;
    if (typeof resets === 'string') this.waits.resetsAt ??= resets;
  }

  private noteSigns(record: Readonly<Record<string, unknown>>): void {
    if (typeof record['retryable'] === 'boolean') this.retryable ??= record['retryable'];
    if (Array.isArray(record['patterns']) || record['flagged_input'] !== undefined) this.guardrail = true;
    if (!isRecord(record['headers'])) return;
    for (const [name, value] of Object.entries(record['headers'])) {
      if (typeof value === 'string') this.headers[name.toLowerCase()] = value;
    }
  }
}

/** A number that HTTP has for a no, written as a number or as text. */
export function statusOf(value: unknown): number | undefined {
  const status = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value;
  return typeof status === 'number' && status >= 400 && status < 600 ? status : undefined;
}

/** Words that stand for a status where no number is given; the first that fits wins. */
const STATUS_WORDS: readonly (readonly [RegExp, number])[] = [
  [/rate.?limit|too.many.requests|throttl|resource.exhausted|^requests$|^tokens$/, 429],
  [/overload|unavailable|no.capacity|capacity.exceeded/, 503],
  [/authenticat|invalid.api.key|unauthorized/, 401],
  [/permission|forbidden/, 403],
  [/not.?found/, 404],
  [/invalid|bad.?request/, 400],
];

function inferStatus(ids: ReadonlySet<string>, text: string): number {
  const words = [...ids];
  const byId = STATUS_WORDS.find(([pattern]) => words.some((word) => pattern.test(word)));
  const byText = STATUS_WORDS.slice(0, 2).find(([pattern]) => pattern.test(text.toLowerCase()));
  return (byId ?? byText)?.[1] ?? 500;
}
