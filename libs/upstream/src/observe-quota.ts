import { parseReset } from './durations.js';
import type { ProviderProfile, QuotaHeader } from './profiles/profile.js';
import type { Headers } from './refusal.js';

/** Limits per minute as headers state them; what they do not say is left out. */
export interface ObservedQuota {
  readonly limitRequests?: number;
  readonly limitTokens?: number;
  readonly remainingRequests?: number;
  readonly remainingTokens?: number;
}

/** A reset further away than this belongs to a window that is longer than a minute. */
const LONGEST_RESET_MS = 61_000;

/** Reads the quota headers of any answer. Sentinels (Azure's -1) and limits of a day are left out. */
export function observeQuota(profile: ProviderProfile, headers: Headers): ObservedQuota {
  const requests = read(profile.requests, headers);
  const tokens = read(profile.tokens, headers);
  return {
    ...(requests?.limit === undefined ? {} : { limitRequests: requests.limit }),
    ...(requests?.remaining === undefined ? {} : { remainingRequests: requests.remaining }),
    ...(tokens?.limit === undefined ? {} : { limitTokens: tokens.limit }),
    ...(tokens?.remaining === undefined ? {} : { remainingTokens: tokens.remaining }),
  };
}

interface Reading {
  readonly limit: number | undefined;
  readonly remaining: number | undefined;
}

function read(names: QuotaHeader | undefined, headers: Headers): Reading | undefined {
  if (!names) return undefined;
  const limit = numberOf(headers[names.limit]);
  const remaining = names.remaining === undefined ? undefined : numberOf(headers[names.remaining]);
  const reading = {
    limit: limit === undefined || limit === 0 ? undefined : limit * names.perMinute,
    remaining,
  };
  return names.reset !== undefined && isDaily(reading, headers[names.reset]) ? undefined : reading;
}

function numberOf(value: string | undefined): number | undefined {
  return value !== undefined && /^\d+(\.\d+)?$/.test(value) ? Number(value) : undefined;
}

/** Durations only: an absolute time would need the answer's clock, and those who send one count per minute. */
function isDaily(reading: Reading, reset: string | undefined): boolean {
  if (reset === undefined || !/[a-z]/.test(reset)) return false;
  const resetMs = parseReset(reset, 0) ?? 0;
  if (resetMs > LONGEST_RESET_MS) return true;
  // The time until all of it is back, over what is used, is the window; daily limits show early in the day as well.
  const { limit, remaining } = reading;
  if (limit === undefined || remaining === undefined || remaining <= 0 || remaining >= limit) return false;
  // Whole seconds are rounded up, which a small share of the window would blow up.
  if (/^\d+s$/.test(reset)) return false;
  return (resetMs * limit) / (limit - remaining) > 2 * LONGEST_RESET_MS;
}
