import type { Milliseconds } from '@weir/kernel';
import type { QuotaLevel, QuotaView } from '@weir/limiter';

/**
 * The caller's own view of its quota, under the names that OpenAI uses. Not the provider's headers:
 * those speak of a key that the caller shares with everybody, and may say nothing of its team.
 */
export function quotaHeaders({ requests, tokens }: QuotaView): Readonly<Record<string, string>> {
  return { ...levelHeaders('requests', requests), ...levelHeaders('tokens', tokens) };
}

function levelHeaders(unit: string, level: QuotaLevel | undefined): Readonly<Record<string, string>> {
  if (level === undefined) return {};
  return {
    [`x-ratelimit-limit-${unit}`]: String(level.limit),
    [`x-ratelimit-remaining-${unit}`]: String(level.remaining),
    [`x-ratelimit-reset-${unit}`]: goDuration(level.resetMs),
  };
}

/** As OpenAI writes times in these headers: `120ms`, `6.5s`. */
function goDuration(ms: Milliseconds): string {
  return ms < 1000 ? `${Math.ceil(ms)}ms` : `${Math.ceil(ms / 100) / 10}s`;
}
