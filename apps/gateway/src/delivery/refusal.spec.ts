import { GatewayError } from '@weir/kernel';
import { fromFrameworkStatus, toRefusal } from './refusal.js';

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('utf8');
}

describe('toRefusal', () => {
  it('says who said no, why, and when to come back', () => {
    const refusal = toRefusal(new GatewayError('wait_exceeds_deadline', 'too long', { hintMs: 1500.2 }));
    expect(refusal.status).toBe(429);
    expect(refusal.headers).toMatchObject({
      'retry-after': '2',
      'retry-after-ms': '1501',
      'x-should-retry': 'false',
      'x-weir-origin': 'gateway',
      'x-weir-reason': 'wait_exceeds_deadline',
    });
    expect(JSON.parse(text(refusal.body))).toEqual({
      error: { message: 'too long', type: 'rate_limit_error', param: null, code: 'wait_exceeds_deadline' },
    });
  });

  it.each(['queue_full', 'draining', 'circuit_open', 'upstream_rate_limited', 'account_parked'] as const)(
    'never answers %s without retry-after',
    (code) => {
      expect(Number(toRefusal(new GatewayError(code, 'no')).headers['retry-after'])).toBeGreaterThanOrEqual(
        1,
      );
    },
  );

  it('does not send a caller back to a spent account after a second', () => {
    const spent = new GatewayError('upstream_rate_limited', 'no', { failure: 'quota_exhausted' });
    expect(toRefusal(spent).headers['retry-after']).toBe('60');
  });

  it('tells what was called, where anything was', () => {
    const error = new GatewayError('upstream_timeout', 'no');
    expect(toRefusal(error).headers).not.toHaveProperty('x-weir-attempts');
    expect(toRefusal(error.after({ account: 'main', attempts: 3 })).headers).toMatchObject({
      'x-weir-account': 'main',
      'x-weir-attempts': '3',
    });
  });

  it('promises no time where none is known', () => {
    expect(toRefusal(new GatewayError('invalid_request', 'no')).headers).not.toHaveProperty('retry-after');
  });

  it("passes a provider's own refusal through as it came", () => {
    const body = Buffer.from('{"odd":  1}');
    const error = new GatewayError('upstream_rejected', 'no', {
      origin: 'provider',
      passThrough: { status: 422, contentType: 'application/problem+json', body },
    });
    expect(toRefusal(error)).toMatchObject({
      status: 422,
      body,
      headers: { 'content-type': 'application/problem+json', 'x-weir-origin': 'provider' },
    });
  });
});

describe('fromFrameworkStatus', () => {
  it.each([
    [404, 404, 'invalid_request'],
    [413, 413, 'body_too_large'],
    [415, 415, 'invalid_request'],
    [400, 400, 'invalid_request'],
    [500, 500, 'internal'],
  ] as const)('keeps %i and explains it', (status, expected, code) => {
    const refusal = toRefusal(fromFrameworkStatus(status, 'odd words of the framework'));
    expect(refusal.status).toBe(expected);
    const { error } = JSON.parse(text(refusal.body)) as { error: { code: string; message: string } };
    expect(error.code).toBe(code);
    if (status === 500) expect(error.message).not.toContain('odd words');
  });

  it('names every endpoint to whoever asked for another', () => {
    const { message } = fromFrameworkStatus(404, 'Cannot GET /v1/responses');
    for (const path of ['/v1/chat/completions', '/v1/embeddings', '/v1/models'])
      expect(message).toContain(path);
  });
});
