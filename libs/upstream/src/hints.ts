import type { EpochMilliseconds, FailureClass, Milliseconds } from '@weir/kernel';
import { delayIsWrong, quotaNumbers } from './classify-failure.js';
import { parseClock, parseDate, parseNumber, parseReset, parseUnits, parseUntil } from './durations.js';
import type { Headers, Refusal } from './refusal.js';

/**
 * The shortest wait that the answer asks for, the most specific source first (docs/providers.md).
 * A source that is empty, zero, past, beyond 31 days or garbage gives way to the next.
 * @param now civil time of the answer; its own `date` header is taken instead where it has one
 * @returns undefined where nothing usable was said, or waiting would not help
 */
export function waitHint(
  refusal: Refusal,
  failure: FailureClass,
  now: EpochMilliseconds,
): Milliseconds | undefined {
  if (!USEFUL.has(failure)) return undefined;
  const at = parseDate(refusal.headers['date'] ?? '') ?? now;
  for (const source of SOURCES) {
    const wait = usable(source(refusal, failure, at));
    if (wait !== undefined) return wait;
  }
  return undefined;
}

/** No provider counts in a window that is longer than a month. */
const LONGEST_MS = 31 * 86_400_000;

type Source = (refusal: Refusal, failure: FailureClass, now: EpochMilliseconds) => Milliseconds | undefined;

const USEFUL: ReadonlySet<FailureClass> = new Set([
  'rate_limit_requests',
  'rate_limit_tokens',
  'concurrency',
  'overloaded',
  'transient',
  'quota_exhausted',
]);

const SOURCES: readonly Source[] = [fromHeaders, fromFields, fromProse, fromResets, fromNumbers];

/** On a success the header means something else (Anthropic sends it with every answer). */
function fromHeaders(
  refusal: Refusal,
  _failure: FailureClass,
  now: EpochMilliseconds,
): Milliseconds | undefined {
  if (refusal.httpStatus < 300) return undefined;
  const exact = usable(parseNumber(refusal.headers['retry-after-ms'] ?? '', 1));
  const after = refusal.headers['retry-after'] ?? '';
  return exact ?? parseNumber(after, 1000) ?? parseUntil(after, now);
}

function fromFields(
  refusal: Refusal,
  _failure: FailureClass,
  now: EpochMilliseconds,
): Milliseconds | undefined {
  if (refusal.retryDelay !== undefined && delayIsWrong(refusal)) return undefined;
  const delay = usable(parseUnits(refusal.retryDelay ?? ''));
  const after = usable(Math.ceil((refusal.retryAfter ?? 0) * 1000));
  if (delay !== undefined || after !== undefined) return delay ?? after;
  return refusal.resetsAt === undefined ? undefined : parseUntil(refusal.resetsAt, now);
}

const UNIT = '(?:milliseconds?|ms|seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|[smhd])';
const PROSE = new RegExp(
  `(?:try again|retry|wait)(?: in| after| for)? ((?:\\d+(?:\\.\\d+)? ?${UNIT}\\b ?|\\d+[hm](?=\\d))+)`,
  'i',
);
const REPLENISHED = /replenished in (\d+:\d\d:\d\d)/i;

function fromProse(refusal: Refusal): Milliseconds | undefined {
  if (delayIsWrong(refusal)) return undefined;
  const clock = REPLENISHED.exec(refusal.text)?.[1];
  if (clock !== undefined) return parseClock(clock);
  const prose = PROSE.exec(refusal.text)?.[1];
  return prose === undefined ? undefined : parseUnits(prose.toLowerCase());
}

/** The reset of what is used up. It tells when the window is full again: an upper bound, so it comes late. */
function fromResets(
  refusal: Refusal,
  failure: FailureClass,
  now: EpochMilliseconds,
): Milliseconds | undefined {
  if (failure === 'overloaded' || failure === 'transient') return undefined;
  const waits = Object.keys(refusal.headers)
    .filter((name) => RESET_NAME.test(name) && isUsedUp(refusal.headers, name, failure))
    .map((name) => usable(parseReset(refusal.headers[name] ?? '', now)) ?? 0);
  return waits.length === 0 ? undefined : Math.max(...waits);
}

const RESET_NAME = /^(x-rate-?limit|x-tokenlimit|anthropic-ratelimit|ratelimit).*reset/;

function isUsedUp(headers: Headers, resetName: string, failure: FailureClass): boolean {
  const limit = headers[resetName.replace('reset', 'limit')];
  const remaining = headers[resetName.replace('reset', 'remaining')];
  if (limit === '-1') return false;
  if (remaining !== undefined) return Number(remaining) === 0;
  // Azure's older header comes alone: it counts where it is about the dimension that said no.
  const isTokens = resetName.includes('token');
  return isTokens ? failure === 'rate_limit_tokens' : failure === 'rate_limit_requests';
}

/** The wait of a bucket that refills steadily; the printed waits of OpenAI and Groq agree with it to the millisecond. */
function fromNumbers(refusal: Refusal): Milliseconds | undefined {
  const numbers = quotaNumbers(refusal.text);
  const windowMs = windowOf(refusal.text);
  if (!numbers || windowMs === undefined || numbers.limit <= 0) return undefined;
  const missing = numbers.used + numbers.requested - numbers.limit;
  return Math.ceil((missing / numbers.limit) * windowMs);
}

function windowOf(text: string): Milliseconds | undefined {
  if (/per min|\([RIO]?T?PM\)/i.test(text)) return 60_000;
  if (/per day|\([RT]PD\)/i.test(text)) return 86_400_000;
  return /per sec/i.test(text) ? 1000 : undefined;
}

function usable(wait: Milliseconds | undefined): Milliseconds | undefined {
  return wait !== undefined && wait > 0 && wait <= LONGEST_MS ? wait : undefined;
}
