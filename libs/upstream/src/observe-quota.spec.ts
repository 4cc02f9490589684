import { observeQuota } from './observe-quota.js';
import type { ProfileId } from './profiles/profile.js';
import { profileOf } from './profiles/profiles.js';
import { CORPUS } from './testing/corpus.js';

const headersOf = (id: string): Readonly<Record<string, string>> =>
  CORPUS.find((entry) => entry.id === id)?.headers ?? {};

it.each<[string, ProfileId, object]>([
  [
    'openai-200-ok-ratelimit-headers',
    'openai',
    { limitRequests: 5000, remainingRequests: 4999, limitTokens: 800_000, remainingTokens: 799_986 },
  ],
  // A limit per day behind the name of the minute, unmasked by its reset.
  ['openai-429-rpd-daily', 'openai', {}],
  ['groq-429-tpm', 'groq', { limitTokens: 6000, remainingTokens: 966 }],
  ['groq-429-tpm', 'generic', { limitTokens: 6000, remainingTokens: 966 }],
  ['azure-429-minus-one-headers', 'azure', {}],
  [
    'azure-429-short-prose',
    'azure',
    { limitRequests: 8, remainingRequests: 7, limitTokens: 8000, remainingTokens: 1014 },
  ],
  ['mistral-429-1300', 'mistral', { limitRequests: 360, limitTokens: 2_000_000, remainingTokens: 1_999_932 }],
  ['together-429-credit-limit-type-trap', 'together', { limitRequests: 60 }],
  ['openrouter-429-free-per-day', 'openrouter', {}],
  ['anthropic-200-with-retry-after', 'anthropic', { limitRequests: 4000, remainingRequests: 3999 }],
  ['xai-429-rps-epoch-reset', 'xai', {}],
  ['fireworks-429', 'fireworks', {}],
])('%s as %s', (id, profile, expected) => {
  expect(observeQuota(profileOf(profile), headersOf(id))).toEqual(expected);
});

it('takes a fresh minute and an empty minute for what they are', () => {
  const headers = { 'x-ratelimit-limit-requests': '60', 'x-ratelimit-reset-requests': '1s' };
  const seen = (remaining: string): object =>
    observeQuota(profileOf('generic'), { ...headers, 'x-ratelimit-remaining-requests': remaining });
  expect(seen('59')).toEqual({ limitRequests: 60, remainingRequests: 59 });
  expect(seen('0')).toEqual({ limitRequests: 60, remainingRequests: 0 });
});

it('says nothing of nonsense', () => {
  const headers = { 'x-ratelimit-limit-requests': 'many', 'x-ratelimit-limit-tokens': '0' };
  expect(observeQuota(profileOf('generic'), headers)).toEqual({});
});
