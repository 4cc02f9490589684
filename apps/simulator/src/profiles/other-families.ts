import type { Milliseconds } from '@weir/kernel';
import type { Refusal } from '../provider/provider.js';
import type { Standing } from '../provider/scope.js';
import { rfc3339 } from './durations.js';
import { openAiRefusal, quotaProse } from './openai-family.js';
import { QUOTA_PROSE, hintMs, retryAfter, type Profile } from './profile.js';

/** Anthropic: resets as RFC 3339, remaining tokens rounded to thousands. */
export const anthropic: Profile = {
  quotaHeaders: ({ requests, tokens }, { now }) => {
    const of = (unit: string, { limit, remaining, resetMs }: Standing): [string, string][] => [
      [`anthropic-ratelimit-${unit}-limit`, String(limit)],
      [`anthropic-ratelimit-${unit}-remaining`, String(remaining)],
      [`anthropic-ratelimit-${unit}-reset`, rfc3339(now + resetMs)],
    ];
    const rounded = tokens && { ...tokens, remaining: Math.floor(tokens.remaining / 1000) * 1000 };
    return Object.fromEntries([
      ...(requests ? of('requests', requests) : []),
      ...(rounded ? of('tokens', rounded) : []),
    ]);
  },
  refuse: (refusal) => {
    const message = `This call would exceed the limit of ${refusal.limit} ${QUOTA_PROSE[refusal.kind]} of your simulated organization.`;
    return {
      headers: { ...retryAfter(refusal), 'x-should-retry': String(hintMs(refusal) !== undefined) },
      body: { type: 'error', error: { type: 'rate_limit_error', message } },
    };
  },
};

/** Gemini's OpenAI endpoint: no headers, everything in the details of an error in an array. */
export const gemini: Profile = {
  quotaHeaders: () => ({}),
  refuse: (refusal, { model }) => {
    const { kind, limit, requested } = refusal;
    const metric = kind === 'tokens' ? 'generate_content_input_token_count' : 'generate_content_requests';
    const period = kind === 'daily' ? 'PerDay' : 'PerMinute';
    const violation = {
      quotaMetric: `generativelanguage.googleapis.com/${metric}`,
      quotaId: `Generate${kind === 'tokens' ? 'ContentInputTokens' : 'Requests'}${period}PerProjectPerModel`,
      quotaDimensions: { model },
      quotaValue: String(limit),
    };
    const hint = hintMs(refusal);
    const details = [
      { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [violation] },
      ...(hint === undefined
        ? []
        : [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${hint / 1000}s` }]),
    ];
    const message = `Quota exceeded for metric ${violation.quotaMetric}, limit: ${limit}, requested: ${requested}.`;
    return { headers: {}, body: [{ error: { code: 429, message, status: 'RESOURCE_EXHAUSTED', details } }] };
  },
};

/** Mistral: no resets, no hint, a flat error with a code of its own. */
export const mistral: Profile = {
  quotaHeaders: ({ requests, tokens }) => ({
    ...(requests && {
      'x-ratelimit-limit-req-minute': String(requests.limit),
      'x-ratelimit-remaining-req-minute': String(requests.remaining),
    }),
    ...(tokens && {
      'x-ratelimit-limit-tokens-minute': String(tokens.limit),
      'x-ratelimit-remaining-tokens-minute': String(tokens.remaining),
    }),
  }),
  refuse: (refusal, { model }) => ({
    headers: {},
    body: {
      object: 'error',
      message: `Rate limit exceeded: ${QUOTA_PROSE[refusal.kind]} of ${model}`,
      type: 'rate_limited',
      param: null,
      code: '1300',
      raw_status_code: 429,
    },
  }),
};

/** DeepSeek: it limits calls at one time, and tells nothing more. */
export const deepseek: Profile = {
  quotaHeaders: () => ({}),
  refuse: (refusal, { model }) => ({ headers: {}, body: openAiRefusal(refusal, model) }),
};

/** OpenRouter: headers on refusals only, the reset in epoch milliseconds, and again in the error's metadata. */
export const openrouter: Profile = {
  quotaHeaders: () => ({}),
  refuse: (refusal, { model, now }) => {
    const told = {
      'X-RateLimit-Limit': String(refusal.limit),
      'X-RateLimit-Remaining': String(Math.max(0, refusal.limit - refusal.used)),
      'X-RateLimit-Reset': String(Math.ceil(now + (hintMs(refusal) ?? 0))),
    };
    const metadata = { headers: told, provider_name: null };
    const error = { message: quotaProse(refusal, model), code: 429, metadata };
    const names = Object.entries(told).map(([name, value]) => [name.toLowerCase(), value]);
    return { headers: Object.fromEntries(names) as Record<string, string>, body: { error } };
  },
};

/** Together: everything by the second. */
export const together: Profile = {
  quotaHeaders: ({ requests, tokens }, { windowMs }) => ({
    ...(requests && perSecond('x-ratelimit', requests, windowMs)),
    ...(tokens && perSecond('x-tokenlimit', tokens, windowMs)),
  }),
  refuse: (refusal, { model }) => {
    const error = { message: quotaProse(refusal, model), type: 'credit_limit', param: null, code: null };
    return { headers: retryAfter(refusal), body: { error } };
  },
};

function perSecond(prefix: string, { limit, remaining, resetMs }: Standing, windowMs: Milliseconds) {
  const seconds = windowMs / 1000;
  return {
    [`${prefix}-limit`]: String(Math.max(1, Math.floor(limit / seconds))),
    [`${prefix}-remaining`]: String(Math.floor(remaining / seconds)),
    [`${prefix}-reset`]: String(Math.ceil(resetMs / 1000)),
  };
}

/** Fireworks: token limits by the second, without room or reset. */
export const fireworks: Profile = {
  quotaHeaders: ({ tokens }, { windowMs }) =>
    tokens ? { 'x-ratelimit-limit-tokens-prompt': String(Math.floor((tokens.limit * 1000) / windowMs)) } : {},
  refuse: (refusal, { model }) => ({ headers: {}, body: flagged(refusal, model) }),
};

function flagged(refusal: Refusal, model: string): object {
  const message = quotaProse(refusal, model);
  return { error: { object: 'error', type: 'rate_limit_error', code: 'rate_limit_exceeded', message } };
}

/** LiteLLM's proxy: it says which of its limits, and lets one wait for the whole window. */
export const litellm: Profile = {
  quotaHeaders: () => ({}),
  refuse: (refusal, { model, now, windowMs }) => {
    const kinds = { requests: 'requests', daily: 'requests', tokens: 'tokens' } as const;
    const kind = refusal.kind === 'concurrency' ? 'max_parallel_requests' : kinds[refusal.kind];
    const resetAt = new Date(now + windowMs).toISOString().slice(0, 19).replace('T', ' ');
    return {
      headers: {
        'retry-after': String(Math.ceil(windowMs / 1000)),
        rate_limit_type: kind,
        reset_at: `${resetAt} UTC`,
      },
      body: { error: { message: quotaProse(refusal, model), type: 'None', param: 'None', code: '429' } },
    };
  },
};

/** one-api's own limiter: a refusal without a word. */
export const oneApi: Profile = {
  quotaHeaders: () => ({}),
  refuse: () => ({ headers: {}, body: '' }),
};

/** Ollama: a full queue is a 503. */
export const ollama: Profile = {
  quotaHeaders: () => ({}),
  refuse: () => {
    const message = 'server busy, please try again. maximum pending requests exceeded';
    return {
      status: 503,
      headers: {},
      body: { error: { message, type: 'api_error', param: null, code: null } },
    };
  },
};
