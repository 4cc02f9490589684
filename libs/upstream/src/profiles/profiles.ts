import type { ProfileId, ProviderProfile, QuotaHeader } from './profile.js';

/** OpenAI's names, which most others took over. */
const REQUESTS: QuotaHeader = {
  limit: 'x-ratelimit-limit-requests',
  remaining: 'x-ratelimit-remaining-requests',
  reset: 'x-ratelimit-reset-requests',
  perMinute: 1,
};
const TOKENS: QuotaHeader = {
  limit: 'x-ratelimit-limit-tokens',
  remaining: 'x-ratelimit-remaining-tokens',
  reset: 'x-ratelimit-reset-tokens',
  perMinute: 1,
};

/** What most of them do, or what costs least where nobody says. */
const USUAL = { keyHeader: 'authorization', acceptsIncludeUsage: true, books: 'prompt_and_max' } as const;

const PROFILES: Readonly<Record<ProfileId, ProviderProfile>> = {
  openai: {
    ...USUAL,
    id: 'openai',
    providerName: 'openai',
    books: 'larger_of_both',
    guessesInput: true,
    requests: REQUESTS,
    tokens: TOKENS,
  },
  azure: {
    ...USUAL,
    id: 'azure',
    providerName: 'azure.ai.openai',
    keyHeader: 'api-key',
    guessesInput: true,
    requests: REQUESTS,
    tokens: TOKENS,
  },
  // Its token headers show whichever of the two token limits is tightest, so they name no limit.
  anthropic: {
    ...USUAL,
    id: 'anthropic',
    providerName: 'anthropic',
    books: 'as_produced',
    requests: {
      limit: 'anthropic-ratelimit-requests-limit',
      remaining: 'anthropic-ratelimit-requests-remaining',
      perMinute: 1,
    },
  },
  gemini: { ...USUAL, id: 'gemini', providerName: 'gcp.gemini', books: 'input_only' },
  // Its request headers are per day; the limit per minute is in no header.
  groq: { ...USUAL, id: 'groq', providerName: 'groq', tokens: TOKENS },
  // Counts requests per 10 seconds; some versions refuse `stream_options`, all of them report usage.
  mistral: {
    ...USUAL,
    id: 'mistral',
    providerName: 'mistral_ai',
    books: 'as_produced',
    acceptsIncludeUsage: false,
    requests: { limit: 'x-ratelimit-limit-req-10-second', perMinute: 6 },
    tokens: {
      limit: 'x-ratelimit-limit-tokens-minute',
      remaining: 'x-ratelimit-remaining-tokens-minute',
      perMinute: 1,
    },
  },
  // One limit only: requests that are open at the same time.
  deepseek: { ...USUAL, id: 'deepseek', providerName: 'deepseek', every429: 'concurrency' },
  // Headers come with 429s only and mix limits per minute and per day under one name.
  openrouter: { ...USUAL, id: 'openrouter', providerName: 'openrouter' },
  // Counts per second, under short names.
  together: {
    ...USUAL,
    id: 'together',
    providerName: 'together',
    requests: { limit: 'x-ratelimit-limit', perMinute: 60 },
    tokens: { limit: 'x-tokenlimit-limit', perMinute: 60 },
  },
  // Three token limits, none of which is the total.
  fireworks: { ...USUAL, id: 'fireworks', providerName: 'fireworks', books: 'as_produced' },
  // Its request limit is per second, under OpenAI's name.
  xai: { ...USUAL, id: 'xai', providerName: 'x_ai', tokens: TOKENS },
  vllm: { ...USUAL, id: 'vllm', providerName: 'vllm' },
  ollama: { ...USUAL, id: 'ollama', providerName: 'ollama' },
  litellm: { ...USUAL, id: 'litellm', providerName: 'litellm', requests: REQUESTS, tokens: TOKENS },
  // What its headers say belongs to a channel behind it, not to our key.
  'one-api': { ...USUAL, id: 'one-api', providerName: 'one_api' },
  generic: { ...USUAL, id: 'generic', providerName: 'generic', requests: REQUESTS, tokens: TOKENS },
};

/** What is known of a provider. */
export function profileOf(id: ProfileId): ProviderProfile {
  return PROFILES[id];
}
