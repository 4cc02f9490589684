import type { Milliseconds } from '@weir/kernel';
import type { HeaderMap } from '../answer/answer.js';
import type { Refusal } from '../provider/provider.js';
import type { Standing, Standings } from '../provider/scope.js';
import { goDuration, wholeSeconds } from './durations.js';
import { QUOTA_PROSE, hintMs, retryAfter, retryAfterMs, type Profile } from './profile.js';

/** `x-ratelimit-*` with resets written by `reset`; `requests` may be those of a day. */
export function rateLimitHeaders(
  requests: Standing | undefined,
  tokens: Standing | undefined,
  reset: (duration: Milliseconds) => string,
): HeaderMap {
  const of = (unit: string, standing: Standing): [string, string][] => [
    [`x-ratelimit-limit-${unit}`, String(standing.limit)],
    [`x-ratelimit-remaining-${unit}`, String(standing.remaining)],
    [`x-ratelimit-reset-${unit}`, reset(standing.resetMs)],
  ];
  return Object.fromEntries([
    ...(requests ? of('requests', requests) : []),
    ...(tokens ? of('tokens', tokens) : []),
  ]);
}

/** Limit, used, requested and wait in prose: clients read them (seen in OpenAI's and Groq's errors, 2026-11). */
export function quotaProse(refusal: Refusal, model: string): string {
  const { kind, limit, used, requested } = refusal;
  const quota = `for \`${model}\` in organization org-simulated on ${QUOTA_PROSE[kind]}: Limit ${limit}`;
  if (requested > limit) return `Request too large ${quota}, Requested ${requested}.`;
  const hint = hintMs(refusal);
  const advice = hint === undefined ? '' : ` Please try again in ${goDuration(hint)}.`;
  return `Rate limit reached ${quota}, Used ${used}, Requested ${requested}.${advice}`;
}

/** OpenAI's error object for a refused call. */
export function openAiRefusal(refusal: Refusal, model: string): object {
  const type = refusal.kind === 'tokens' ? 'tokens' : 'requests';
  return { error: { message: quotaProse(refusal, model), type, param: null, code: 'rate_limit_exceeded' } };
}

/** OpenAI: Go durations, `retry-after-ms`. */
export const openai: Profile = {
  quotaHeaders: ({ requests, tokens, day }) => rateLimitHeaders(requests ?? day, tokens, goDuration),
  refuse: (refusal, { model }) => ({
    headers: retryAfterMs(refusal),
    body: openAiRefusal(refusal, model),
  }),
};

/** Groq: its request headers are those of the day; what can never fit is a 413. */
export const groq: Profile = {
  quotaHeaders: ({ tokens, day }) => rateLimitHeaders(day, tokens, goDuration),
  refuse: (refusal, { model }) => ({
    status: refusal.requested > refusal.limit ? 413 : 429,
    headers: retryAfter(refusal),
    body: openAiRefusal(refusal, model),
  }),
};

/** Azure waits so long for what can never fit. */
const AZURE_NEVER_MS: Milliseconds = 86_400_000;

/** Azure OpenAI: resets in whole seconds, an error without type whose code is the text "429". */
export const azure: Profile = {
  quotaHeaders: ({ requests, tokens }) => rateLimitHeaders(requests, tokens, wholeSeconds),
  refuse: (refusal) => {
    const waitMs = hintMs(refusal) ?? AZURE_NEVER_MS;
    const quota = refusal.kind === 'tokens' ? 'token rate limit' : 'call rate limit';
    const message = `Requests to this simulated deployment have exceeded ${quota}. Please retry after ${wholeSeconds(waitMs)} seconds.`;
    return {
      headers: { 'retry-after': wholeSeconds(waitMs), 'retry-after-ms': String(waitMs) },
      body: { error: { code: '429', message } },
    };
  },
};

/** xAI: resets as epoch seconds, the error a bare text beside a code. */
export const xai: Profile = {
  quotaHeaders: ({ requests, tokens }, { now }) =>
    rateLimitHeaders(requests, tokens, (duration) => wholeSeconds(now + duration)),
  refuse: ({ kind, used, requested, limit }, { model }) => {
    const things = kind === 'tokens' ? 'tokens' : 'requests';
    const error = `Too many ${things} for team team-simulated and model ${model}. ${QUOTA_PROSE[kind]} (actual/limit): ${used + requested}/${limit}`;
    return { headers: {}, body: { code: 'Some resource has been exhausted', error } };
  },
};

/** For those who tell nothing but that it was too much, and perhaps when to come back. */
export const generic: Profile = {
  quotaHeaders: (_standings: Standings) => ({}),
  refuse: (refusal, { model }) => {
    const { error } = { error: { message: quotaProse(refusal, model), type: 'rate_limit_error' } };
    return { headers: retryAfter(refusal), body: { error: { ...error, param: null, code: null } } };
  },
};
