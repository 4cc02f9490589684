import { classifyFailure } from './classify-failure.js';
import { waitHint } from './hints.js';
import type { ProfileId } from './profiles/profile.js';
import { profileOf } from './profiles/profiles.js';
import { readRefusal } from './refusal.js';

const NOW = Date.UTC(2026, 7, 18, 12);

interface Said {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly profile?: ProfileId;
}

/** Class, retryable, wait of a body; the corpus holds the recorded ones, these are their neighbours. */
function judge(body: unknown, { status = 429, headers = {}, profile = 'generic' }: Said = {}): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const refusal = readRefusal({ httpStatus: status, headers, body: Buffer.from(text) });
  const { failure, retryable } = classifyFailure(refusal, profileOf(profile));
  const wait = waitHint(refusal, failure, NOW);
  return [failure, retryable ? 'retry' : 'final', ...(wait === undefined ? [] : [wait])].join(' ');
}

const says = (message: string): object => ({ error: { message } });

describe('containers', () => {
  it.each([
    [{ error: { message: 'x', code: 'insufficient_quota' } }],
    [[{ error: { code: 'insufficient_quota' } }]],
    [{ error: 'x', code: 'insufficient_quota' }],
    [{ message: 'x', code: 'insufficient_quota' }],
    [{ msg: 'credit balance is too low' }],
    [{ err: 'credit balance is too low' }],
    [{ error_msg: 'credit balance is too low' }],
    [{ detail: 'credit balance is too low' }],
    [{ message: { detail: [{ msg: 'credit balance is too low' }] } }],
    [says(JSON.stringify({ error: { message: JSON.stringify({ code: 'insufficient_quota' }) } }))],
    [
      {
        error: {
          message: 'Provider returned error',
          metadata: { raw: '{"error":{"type":"insufficient_quota"}}' },
        },
      },
    ],
    [{ error: { details: { error_code: 'enforced_spend_limit_reached' } } }],
    ["{'error': {'message': 'Your credit balance is too low'}}"],
  ])('%j is read', (body) => {
    expect(judge(body)).toBe('quota_exhausted final');
  });

  it.each([
    '',
    'null',
    '[]',
    '{}',
    '"x"',
    '{"error":null}',
    '{"error":{"message":null}}',
    '{"error":[[[[[[]]]]]]}',
  ])('%j says nothing, so the status decides', (body) => {
    expect(judge(body)).toBe('rate_limit_requests retry');
    expect(judge(body, { status: 500 })).toBe('transient retry');
  });

  it('never matches a page', () => {
    const page =
      '<html>Your credit balance is too low. maximum context length. Try again in 5 seconds.</html>';
    expect(judge(page, { status: 502 })).toBe('transient retry');
    expect(judge('blocked: credit balance is too low', { headers: { 'content-type': 'text/html' } })).toBe(
      'rate_limit_requests retry',
    );
  });

  it('stops at a depth', () => {
    expect(judge('{"error":'.repeat(5000) + '1' + '}'.repeat(5000))).toBe('rate_limit_requests retry');
  });
});

describe('effective status inside a success', () => {
  it.each<[object, string]>([
    [{ error: { code: 429, message: 'x' } }, 'rate_limit_requests retry'],
    [{ error: { code: '503', message: 'x' } }, 'overloaded retry'],
    [{ error: { code: null, type: 'rate_limit_error' } }, 'rate_limit_requests retry'],
    [{ error: { type: 'overloaded_error' } }, 'overloaded retry'],
    [{ error: { type: 'authentication_error' } }, 'auth final'],
    [{ error: { type: 'permission_error' } }, 'auth final'],
    [{ error: { type: 'not_found_error' } }, 'invalid_request final'],
    [{ error: { type: 'invalid_request_error' } }, 'invalid_request final'],
    [{ error: { type: 'server_error' } }, 'transient retry'],
    [{ error: { message: 'x' } }, 'transient retry'],
    [{ error: { status_code: 401 } }, 'auth final'],
    [{ error: { status: 'RESOURCE_EXHAUSTED' } }, 'rate_limit_requests retry'],
  ])('%j → %s', (body, verdict) => {
    expect(judge(body, { status: 200 })).toBe(verdict);
  });

  it('ignores what the headers of a success ask for', () => {
    const headers = { 'retry-after': '36', 'retry-after-ms': '36000' };
    expect(judge({ error: { code: 429 } }, { status: 200, headers })).toBe('rate_limit_requests retry');
  });
});

describe('rules, first match wins', () => {
  it.each<[string, unknown, Said, string]>([
    ['size before status', says('Request too large for x'), {}, 'too_large final'],
    [
      'requested above the limit',
      says('Limit 7,000, Used 0, Requested ~12,903. Try again in 5s'),
      {},
      'too_large final',
    ],
    [
      'requested below the limit',
      says('on TPM: Limit 9000, Requested 900. Please try again in 5s'),
      {},
      'rate_limit_tokens retry 5000',
    ],
    [
      'billing before auth',
      { error: { code: 'insufficient_user_quota' } },
      { status: 403 },
      'quota_exhausted final',
    ],
    ['the sentence alone is billing', says('You exceeded your current quota'), {}, 'quota_exhausted final'],
    [
      'but not from Google',
      { error: { message: 'You exceeded your current quota', status: 'RESOURCE_EXHAUSTED' } },
      {},
      'rate_limit_requests retry',
    ],
    [
      'a zero limit',
      says('Quota exceeded, limit: 0, model: x. Please retry in 20s'),
      {},
      'quota_exhausted final',
    ],
    [
      'not a limit that begins with zero',
      says('limit: 0.5 requests per second'),
      {},
      'rate_limit_requests retry',
    ],
    [
      'per minute beside the advertised day',
      says('free-models-per-min. Add credits for 1000 requests per day'),
      {},
      'rate_limit_requests retry',
    ],
    [
      'a moderated prompt',
      { error: { code: 403, metadata: { flagged_input: 'x' } } },
      { status: 403 },
      'invalid_request final',
    ],
    ['concurrency', says('max_parallel_requests reached'), {}, 'concurrency retry'],
    ['overload behind a 429', says('Azure is experiencing high demand'), {}, 'overloaded retry'],
    [
      'overload is no word for a 400',
      says('the argument is overloaded'),
      { status: 400 },
      'invalid_request final',
    ],
    [
      'throttling as 400',
      { message: 'Too many tokens, please wait' },
      { status: 400, headers: { 'x-amzn-errortype': 'ThrottlingException:http://x' } },
      'rate_limit_tokens retry',
    ],
    [
      'a request limit that sells tokens',
      says('requests per minute (RPM): Limit 30. Need more tokens? Upgrade'),
      {},
      'rate_limit_requests retry',
    ],
    [
      'a quota out of calls',
      { statusCode: 403, message: 'Out of call volume quota. Quota will be replenished in 06:12:34.' },
      { status: 403 },
      'quota_exhausted final 22354000',
    ],
    ['425', '', { status: 425 }, 'transient retry'],
    ['418', '', { status: 418 }, 'invalid_request final'],
    ['505', '', { status: 505 }, 'fatal final'],
    ['302', '', { status: 302 }, 'fatal final'],
    ['600', '', { status: 600 }, 'fatal final'],
  ])('%s', (_name, body, said, verdict) => {
    expect(judge(body, said)).toBe(verdict);
  });

  it.each([506, 507, 508, 510, 511, 540, 561, 598, 599])('%d is a fault that passes', (status) => {
    expect(judge('', { status })).toBe('transient retry');
  });

  it.each([501, 505])('%d is a fault that stays', (status) => {
    expect(judge('', { status })).toBe('fatal final');
  });

  it('lets a profile say what every 429 means, but not what it overrules', () => {
    expect(judge('', { profile: 'deepseek' })).toBe('concurrency retry');
    expect(judge(says('insufficient balance'), { profile: 'deepseek' })).toBe('quota_exhausted final');
    expect(judge(says('overloaded'), { profile: 'deepseek' })).toBe('overloaded retry');
  });

  it('obeys x-should-retry: false, and turns nothing retryable by true', () => {
    const no = { 'x-should-retry': 'false' };
    const yes = { 'x-should-retry': 'true' };
    expect(judge('', { headers: no })).toBe('rate_limit_requests final');
    expect(judge('', { status: 500, headers: no })).toBe('transient final');
    expect(judge('', { status: 401, headers: yes })).toBe('auth final');
    expect(judge('', { status: 400, headers: yes })).toBe('invalid_request final');
    expect(judge({ error: { availability: { retryable: false } } })).toBe('rate_limit_requests final');
  });
});

describe('wordings of providers that the corpus does not hold', () => {
  it.each<[string, number, string]>([
    ['Input is too long for requested model.', 400, 'too_large'],
    [
      "This model's maximum prompt length is 131072 but the request contains 150000 tokens.",
      400,
      'too_large',
    ],
    ['input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000', 400, 'too_large'],
    [
      'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
      400,
      'too_large',
    ],
    ['`inputs` must have less than 4096 tokens. Given: 5000', 422, 'too_large'],
    ['Your request exceeded model token limit: 8192', 400, 'too_large'],
    ['litellm.ContextWindowExceededError: too many', 400, 'too_large'],
    ["Your newly created team doesn't have any credits yet.", 403, 'quota_exhausted'],
    ['ExceededBudget: User=x over budget. Spend=2, Budget=1', 429, 'quota_exhausted'],
    ['用户额度不足', 403, 'quota_exhausted'],
    ['Quota exceeded for x/requests_per_day_per_project', 429, 'quota_exhausted'],
    ['Tokens per day limit exceeded', 429, 'quota_exhausted'],
    ['Max parallel request limit reached', 429, 'concurrency'],
    ['The service is temporarily unable to process your request', 429, 'overloaded'],
    ['local_rate_limited', 429, 'rate_limit_requests'],
    ['max_tokens must be at least 1, got -3', 400, 'invalid_request'],
  ])('%s', (message, status, failure) => {
    expect(judge(says(message), { status }).split(' ')[0]).toBe(failure);
  });

  it('reads what LiteLLM says in headers', () => {
    const judged = (type: string): string | undefined =>
      judge('', { headers: { rate_limit_type: type } }).split(' ')[0];
    expect(judged('tokens')).toBe('rate_limit_tokens');
    expect(judged('requests')).toBe('rate_limit_requests');
    expect(judged('max_parallel_requests')).toBe('concurrency');
  });

  it("reads Cloudflare's problem body", () => {
    const body = { title: 'Error 1015: You are being rate limited', status: 429, retry_after: 30 };
    expect(judge(body)).toBe('rate_limit_requests retry 30000');
  });
});

describe('which limit', () => {
  it.each<[object, Readonly<Record<string, string>>, string]>([
    [{ error: { type: 'tokens' } }, {}, 'tokens'],
    [{ error: { type: 'requests' } }, {}, 'requests'],
    [{}, { 'policy-id': 'DeploymentRatelimit-Token' }, 'tokens'],
    [says('exceeded call rate limit'), {}, 'requests'],
    [says('exceeded token rate limit'), {}, 'tokens'],
    [{}, { 'x-ratelimit-limit-tokens': '100', 'x-ratelimit-remaining-tokens': '0' }, 'tokens'],
    [{}, { 'x-ratelimit-limit-tokens': '-1', 'x-ratelimit-remaining-tokens': '-1' }, 'requests'],
    [
      {},
      {
        'x-ratelimit-limit-tokens': '100',
        'x-ratelimit-remaining-tokens': '50',
        'x-ratelimit-limit-requests': '10',
        'x-ratelimit-remaining-requests': '0',
      },
      'requests',
    ],
    [
      {
        error: { details: [{ violations: [{ quotaMetric: 'x/input_token_count', quotaId: 'PerMinute' }] }] },
      },
      {},
      'tokens',
    ],
  ])('%j %j → %s', (body, headers, unit) => {
    expect(judge(body, { headers })).toBe(`rate_limit_${unit} retry`);
  });
});

describe('hints, the most specific first', () => {
  const prose = says('Please try again in 9m38.016s');
  it.each<[string, unknown, Readonly<Record<string, string>>, number | undefined]>([
    ['retry-after-ms', prose, { 'retry-after-ms': '644', 'retry-after': '1' }, 644],
    ['a fraction of it', prose, { 'retry-after-ms': '644.3' }, 645],
    ['retry-after-ms of zero', prose, { 'retry-after-ms': '0', 'retry-after': '2' }, 2000],
    ['retry-after', prose, { 'retry-after': '34' }, 34_000],
    [
      'a date, by the clock of the answer',
      prose,
      { 'retry-after': 'Tue, 18 Aug 2026 12:00:30 GMT', date: 'Tue, 18 Aug 2026 12:00:10 GMT' },
      20_000,
    ],
    ['a date, by our clock', prose, { 'retry-after': 'Tue, 18 Aug 2026 12:00:30 GMT' }, 30_000],
    ['a date of RFC 850', prose, { 'retry-after': 'Tuesday, 18-Aug-26 12:00:30 GMT' }, 30_000],
    ['a date of asctime', prose, { 'retry-after': 'Tue Aug 18 12:00:30 2026' }, 30_000],
    ['resets_at without a zone', { error: { resets_at: '2026-08-18T12:01:00' } }, {}, 60_000],
    ['a number without end', prose, { 'retry-after': '9'.repeat(400) }, 578_016],
    ['a number beyond doubles', prose, { 'retry-after': '9007199254740993' }, 578_016],
    ['milliseconds without end', prose, { 'retry-after-ms': '9'.repeat(400), 'retry-after': '2' }, 2000],
    ['the year 9999', prose, { 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT' }, 578_016],
    ['31 days', prose, { 'retry-after': '2678400' }, 2_678_400_000],
    ['more than 31 days', prose, { 'retry-after': '2678401' }, 578_016],
    [
      'a reset in the year 9999',
      {},
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '9999-12-31T00:00:00Z' },
      undefined,
    ],
    ['a past date', prose, { 'retry-after': 'Tue, 18 Aug 2026 11:00:00 GMT' }, 578_016],
    ['garbage', prose, { 'retry-after': '-5, later' }, 578_016],
    [
      'retryDelay',
      { error: { message: 'try again in 1s', details: [{ retryDelay: '34.074824224s' }] } },
      {},
      34_075,
    ],
    ['retry_after', { error: { message: 'try again in 1s', retry_after: 7.5 } }, {}, 7500],
    ['availability', { error: { availability: { retry_after: 3 } } }, {}, 3000],
    ['resets_at', { error: { metadata: { resets_at: '2026-08-18T12:01:00Z' } } }, {}, 60_000],
    ['seconds in words', says('Please retry after 37 seconds.'), {}, 37_000],
    ['minutes in words', says('Try again in 2 minutes'), {}, 120_000],
    ['milliseconds', says('Please try again in 644ms.'), {}, 644],
    ['no hint in prose', says('Please try again later, or retry in a while.'), {}, undefined],
    [
      'a reset of what is used up',
      {},
      { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '6m0s' },
      360_000,
    ],
    [
      'not of what is left',
      {},
      { 'x-ratelimit-remaining-requests': '5', 'x-ratelimit-reset-requests': '6m0s' },
      undefined,
    ],
    [
      'epoch milliseconds',
      {},
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(NOW + 60_000) },
      60_000,
    ],
    [
      'epoch seconds',
      {},
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(NOW / 1000 + 5) },
      5000,
    ],
    [
      'a number out of numbers',
      says('tokens per min (TPM): Limit 30000, Used 29937, Requested 385.'),
      {},
      644,
    ],
  ])('%s', (_name, body, headers, wait) => {
    const verdict = judge(body, { headers });
    expect(verdict.split(' ')[2]).toBe(wait === undefined ? undefined : String(wait));
  });

  it('gives none where waiting does not help', () => {
    expect(judge('', { status: 400, headers: { 'retry-after': '5' } })).toBe('invalid_request final');
    expect(judge('', { status: 401, headers: { 'retry-after': '5' } })).toBe('auth final');
  });

  it("distrusts Google's seconds beside a day", () => {
    const details = [{ violations: [{ quotaId: 'RequestsPerDayPerProject' }] }, { retryDelay: '20s' }];
    expect(judge({ error: { message: 'Please retry in 20s', details } })).toBe('quota_exhausted final');
  });
});
