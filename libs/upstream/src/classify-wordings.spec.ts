import { classifyFailure } from './classify-failure.js';
import { waitHint } from './hints.js';
import { profileOf } from './profiles/profiles.js';
import { readRefusal } from './refusal.js';

/** Class, retryable and wait of a body, as a provider without a profile might send it. */
function judge(body: object, { status }: { readonly status: number }): string {
  const refusal = readRefusal({ httpStatus: status, headers: {}, body: Buffer.from(JSON.stringify(body)) });
  const { failure, retryable } = classifyFailure(refusal, profileOf('generic'));
  const wait = waitHint(refusal, failure, 0);
  return [failure, retryable ? 'retry' : 'final', ...(wait === undefined ? [] : [wait])].join(' ');
}

const says = (message: string): object => ({ error: { message } });

describe('what the caller wrote', () => {
  it('never parks an account: prose that quotes it is not about money', () => {
    const message = "Invalid value: 'insufficient funds'. Supported values are: low, high.";
    expect(judge({ error: { message, code: 'invalid_value' } }, { status: 400 })).toBe(
      'invalid_request final',
    );
    expect(judge(says('Your credit balance is too low'), { status: 400 })).toBe('quota_exhausted final');
  });

  it('may be refused for its content by a 403 without being a matter of keys', () => {
    const message = 'Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO';
    expect(judge({ code: 'x', error: message }, { status: 403 })).toBe('invalid_request final');
    expect(judge(says('Forbidden'), { status: 403 })).toBe('auth final');
  });
});

describe('more wordings', () => {
  it.each([
    [412, says('Precondition Failed'), 'invalid_request final'],
    [412, says('Account is suspended'), 'quota_exhausted final'],
    [429, says('Your account is in arrears, please recharge and try again'), 'quota_exhausted final'],
    [400, { code: 'Arrearage', message: 'Access denied' }, 'quota_exhausted final'],
    [429, says('Rate limit of 50 per 86400s exceeded for UserByModelByDay.'), 'quota_exhausted final'],
    [429, says('Model busy, retry later'), 'overloaded retry'],
    [429, { code: '1302', msg: '并发数过高' }, 'concurrency retry'],
    [
      429,
      { error: { message: 'Rate limit exceeded', retry_after_ms: 700 } },
      'rate_limit_requests retry 700',
    ],
  ])('%i %j', (status, body, verdict) => {
    expect(judge(body, { status })).toBe(verdict);
  });
});
