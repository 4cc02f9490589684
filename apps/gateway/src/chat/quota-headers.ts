import type { Milliseconds } from '@weir/kernel';
import type { QuotaLevel, QuotaView } from '@weir/limiter';

/**
 * The caller's own view of its quota, under the names that OpenAI uses. Not the provider's headers:
 * those speak of a key that the caller shares with everybody, and may say nothing of its team.
 */
export function quotaHeaders({ requests, tokens }: QuotaView): Record<string, string> {
  const headers: Record<string, string> = {};
  if (requests !== undefined) addLevel(headers, REQUESTS, requests);
  if (tokens !== undefined) addLevel(headers, TOKENS, tokens);
  return headers;
}

type Names = Readonly<Record<'limit' | 'remaining' | 'reset', string>>;

const REQUESTS = namesFor('requests');
const TOKENS = namesFor('tokens');

function namesFor(unit: string): Names {
  return {
    limit: `x-ratelimit-limit-${unit}`,
    remaining: `x-ratelimit-remaining-${unit}`,
    reset: `x-ratelimit-reset-${unit}`,
  };
}

function addLevel(headers: Record<string, string>, names: Names, level: QuotaLevel): void {
  headers[names.limit] = String(level.limit);
  headers[names.remaining] = String(level.remaining);
  headers[names.reset] = goDuration(level.resetMs);
}

/** As OpenAI writes times in these headers: `120ms`, `6.5s`. */
function goDuration(ms: Milliseconds): string {
  return ms < 1000 ? `${Math.ceil(ms)}ms` : `${Math.ceil(ms / 100) / 10}s`;
}
