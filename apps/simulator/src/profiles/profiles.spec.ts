import type { Refusal } from '../provider/provider.js';
import { goDuration } from './durations.js';
import { PROFILE_NAMES, type ProfileName, type RefusalText } from './profile.js';
import { PROFILES } from './profiles.js';

const NOW = Date.UTC(2026, 10, 29, 12, 0, 0);
const ABOUT = { model: 'm', windowMs: 60_000, now: NOW };
const STANDINGS = {
  requests: { limit: 60, remaining: 59, resetMs: 1000 },
  tokens: { limit: 30_000, remaining: 29_937, resetMs: 126.2 },
  day: { limit: 200, remaining: 100, resetMs: 432_000 },
};
const FULL: Refusal = {
  outcome: 'refused',
  kind: 'requests',
  limit: 60,
  used: 60,
  requested: 1,
  waitMs: 1234.5,
  standings: STANDINGS,
};
const TOO_LARGE: Refusal = {
  ...FULL,
  kind: 'tokens',
  limit: 7000,
  used: 0,
  requested: 12_903,
  waitMs: Infinity,
};

const headers = (name: ProfileName): object => PROFILES[name].quotaHeaders(STANDINGS, ABOUT);
const refuse = (name: ProfileName, refusal: Refusal = FULL): RefusalText =>
  PROFILES[name].refuse(refusal, ABOUT);

describe('durations', () => {
  it.each([
    [0, '0s'],
    [11.2, '12ms'],
    [1000, '1s'],
    [7660, '7.66s'],
    [360_000, '6m0s'],
    [578_016, '9m38.016s'],
    [3_600_000, '1h0m0s'],
  ])('of %d ms are written as Go writes them', (duration, written) => {
    expect(goDuration(duration)).toBe(written);
  });
});

describe('profiles', () => {
  it('OpenAI writes resets as durations, and its wait in milliseconds and seconds', () => {
    expect(headers('openai')).toEqual({
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-requests': '59',
      'x-ratelimit-reset-requests': '1s',
      'x-ratelimit-limit-tokens': '30000',
      'x-ratelimit-remaining-tokens': '29937',
      'x-ratelimit-reset-tokens': '127ms',
    });
    const { headers: hints, body } = refuse('openai');
    expect(hints).toEqual({ 'retry-after': '2', 'retry-after-ms': '1235' });
    expect(body).toMatchObject({ error: { type: 'requests', code: 'rate_limit_exceeded' } });
    expect(JSON.stringify(body)).toContain('Limit 60, Used 60, Requested 1. Please try again in 1.235s.');
  });

  it('OpenAI gives no hint for what can never fit, Groq a 413, Azure a day', () => {
    expect(refuse('openai', TOO_LARGE).headers).toEqual({});
    expect(JSON.stringify(refuse('openai', TOO_LARGE).body)).toContain('Request too large');
    expect(refuse('groq', TOO_LARGE).status).toBe(413);
    expect(refuse('azure', TOO_LARGE).headers).toMatchObject({ 'retry-after': '86400' });
  });

  it('Groq tells requests by the day, Azure resets in seconds, xAI as a time', () => {
    expect(headers('groq')).toMatchObject({
      'x-ratelimit-limit-requests': '200',
      'x-ratelimit-reset-requests': '7m12s',
    });
    expect(headers('azure')).toMatchObject({
      'x-ratelimit-reset-requests': '1',
      'x-ratelimit-reset-tokens': '1',
    });
    expect(headers('xai')).toMatchObject({ 'x-ratelimit-reset-requests': String(NOW / 1000 + 1) });
  });

  it('Anthropic writes times, and tokens in thousands', () => {
    expect(headers('anthropic')).toMatchObject({
      'anthropic-ratelimit-requests-reset': '2026-11-29T12:00:01Z',
      'anthropic-ratelimit-tokens-remaining': '29000',
    });
    expect(refuse('anthropic')).toMatchObject({
      headers: { 'retry-after': '2', 'x-should-retry': 'true' },
      body: { type: 'error', error: { type: 'rate_limit_error' } },
    });
  });

  it('Gemini has no headers, but details in the first error of an array', () => {
    expect(headers('gemini')).toEqual({});
    const body = JSON.stringify(refuse('gemini').body);
    expect(body).toMatch(/^\[\{"error":\{"code":429,/);
    expect(body).toContain('"retryDelay":"1.235s"');
    expect(JSON.stringify(refuse('gemini', { ...FULL, kind: 'daily' }).body)).toContain('PerDay');
  });

  it('Mistral is flat and gives no hint, OpenRouter resets in epoch milliseconds', () => {
    expect(refuse('mistral')).toMatchObject({ headers: {}, body: { object: 'error', code: '1300' } });
    expect(refuse('openrouter').headers).toEqual({
      'x-ratelimit-limit': '60',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(NOW + 1235),
    });
  });

  it('name concurrency, and hint a second where nobody can know', () => {
    const { waitMs: _wait, ...rest } = FULL;
    const busy: Refusal = { ...rest, kind: 'concurrency' };
    expect(JSON.stringify(refuse('deepseek', busy).body)).toContain('concurrent');
    expect(refuse('generic', busy).headers).toEqual({ 'retry-after': '1' });
    expect(refuse('litellm', busy).headers).toMatchObject({ rate_limit_type: 'max_parallel_requests' });
  });

  it.each(PROFILE_NAMES)(
    '%s never hints less than the wait, and writes headers that HTTP can carry',
    (name) => {
      const { headers: hints } = refuse(name);
      for (const value of Object.values({ ...headers(name), ...hints })) expect(value).toMatch(/^[ -~]+$/);
      const seconds = hints['retry-after'];
      if (seconds !== undefined) expect(Number(seconds) * 1000).toBeGreaterThanOrEqual(1234.5);
    },
  );
});
