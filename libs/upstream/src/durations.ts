import type { EpochMilliseconds, Milliseconds } from '@weir/kernel';

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/**
 * Reads a duration of units: Go's `2m59.56s` and `172.799999ms`, and prose such as `9m38.016s` or `53 seconds`.
 * @returns undefined where anything else is in the text
 */
export function parseUnits(text: string): Milliseconds | undefined {
  let total = 0;
  let read = 0;
  const part = /\s*(\d+(?:\.\d+)?)\s*([a-zµ]+)/gy;
  for (let match = part.exec(text); match; match = part.exec(text)) {
    const unit = unitMs(match[2] ?? '');
    if (unit === undefined) return undefined;
    total += Number(match[1]) * unit;
    read = part.lastIndex;
  }
  return read > 0 && text.slice(read).trim() === '' ? wholeMs(total) : undefined;
}

function unitMs(word: string): number | undefined {
  if (word in UNIT_MS) return UNIT_MS[word];
  if (/^(milliseconds?|millis)$/.test(word)) return 1;
  return /^(seconds?|secs?|minutes?|mins?|hours?|hrs?|days?)$/.test(word)
    ? UNIT_MS[word.charAt(0)]
    : undefined;
}

/** Reads `hh:mm:ss`. */
export function parseClock(text: string): Milliseconds | undefined {
  const match = /^(\d+):(\d\d):(\d\d)$/.exec(text.trim());
  if (!match) return undefined;
  return (Number(match[1]) * 3600 + Number(match[2]) * 60 + Number(match[3])) * 1000;
}

/** Reads a bare number of `unitMs` each, fractions allowed; undefined for anything that is no number. */
export function parseNumber(text: string, unitMs: number): Milliseconds | undefined {
  return /^\s*\d+(\.\d+)?\s*$/.test(text) ? wholeMs(Number(text) * unitMs) : undefined;
}

/** Dates that name their zone; `Date.parse` reads every other one in the zone of the process. */
const ZONED = /\d\s*z\b|\b(?:gmt|utc?|[ecmp][sd]t)\b|:\d\d(?:\.\d+)?\s*[+-]\d\d/i;
/** The day of RFC 850, the older form of RFC 9110 5.6.7, whose year has two digits: `29-Nov-26`. */
const RFC_850_DAY = /\b(\d\d)-([a-z]{3})-(\d\d)\b/i;

/**
 * Reads a date of any usual form (the three of HTTP, RFC 3339, `2026-08-18 12:00:00 UTC`). Without a zone it is UTC.
 * @returns undefined for anything that is no date
 */
export function parseDate(text: string): EpochMilliseconds | undefined {
  const dated = text.trim().replace(RFC_850_DAY, '$1 $2 20$3');
  if (!/\d{4}/.test(dated) || !/[a-z-]/i.test(dated)) return undefined;
  const utc = /^\d{4}-\d\d-\d\dT/.test(dated) ? 'Z' : ' UTC';
  const at = Date.parse(ZONED.test(dated) ? dated : dated + utc);
  return Number.isNaN(at) ? undefined : at;
}

/** Reads a date as the time from `now` until then; negative where it is past. */
export function parseUntil(text: string, now: EpochMilliseconds): Milliseconds | undefined {
  const at = parseDate(text);
  return at === undefined ? undefined : at - now;
}

/**
 * Reads a reset header by its shape, as the same name means different things at different providers:
 * Go duration, date, epoch milliseconds (above 1e11), epoch seconds (above 1e9), else seconds that are left.
 */
export function parseReset(text: string, now: EpochMilliseconds): Milliseconds | undefined {
  const seconds = parseNumber(text, 1);
  if (seconds === undefined) return parseUnits(text) ?? parseUntil(text, now);
  const value = Number(text);
  if (value > 1e11) return value - now;
  return value > 1e9 ? value * 1000 - now : wholeMs(value * 1000);
}

/** A hint is a floor: fractions round up, but the noise of binary fractions does not. */
function wholeMs(value: number): Milliseconds {
  return Math.max(0, Math.ceil(value - 1e-6));
}
