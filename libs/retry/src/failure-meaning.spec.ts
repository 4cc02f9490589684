import fc from 'fast-check';
import {
  ERRORS,
  GatewayError,
  type ErrorCode,
  type FailureClass,
  type GatewayErrorDetail,
} from '@weir/kernel';
import { isBreakdown, isOverload } from './failure-meaning.js';

const FAILURES: readonly FailureClass[] = [
  'rate_limit_requests',
  'rate_limit_tokens',
  'concurrency',
  'quota_exhausted',
  'overloaded',
  'transient',
  'too_large',
  'auth',
  'invalid_request',
  'fatal',
];

function error(detail: GatewayErrorDetail, code: ErrorCode = 'upstream_unavailable'): GatewayError {
  return new GatewayError(code, 'no', { origin: 'provider', ...detail });
}

describe('isBreakdown', () => {
  it.each([
    ['500', { failure: 'transient', upstreamStatus: 500 }],
    ['529', { failure: 'overloaded', upstreamStatus: 529 }],
    ['501, which nobody retries', { failure: 'fatal', upstreamStatus: 501 }],
    ['a connection that broke', { failure: 'transient' }],
    ['an answer that was cut', { failure: 'transient', upstreamStatus: 200 }],
    ['an idle stream', { failure: 'transient', phase: 'idle' }],
  ] as const)('is true for %s', (_, detail) => {
    expect(isBreakdown(error(detail))).toBe(true);
  });

  it('property: is false for every 4xx, 429 first, for every key trouble and for what is ours', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...FAILURES),
        fc.oneof(fc.constant(429), fc.integer({ min: 400, max: 499 })),
        fc.constantFrom(...(Object.keys(ERRORS) as ErrorCode[])),
        fc.boolean(),
        (failure, upstreamStatus, code, committed) => {
          expect(isBreakdown(error({ failure, upstreamStatus, committed }, code))).toBe(false);
          expect(isBreakdown(new GatewayError(code, 'ours', { failure }))).toBe(false);
        },
      ),
      { numRuns: 1000, seed: 21 },
    );
    expect(isBreakdown(error({ failure: 'quota_exhausted', upstreamStatus: 503 }))).toBe(false);
  });
});

describe('isOverload', () => {
  it('is 503, 529 and what was too slow to begin; not a 500, a 429 or a stream that fell silent', () => {
    const overloads = [
      error({ upstreamStatus: 503 }),
      error({ upstreamStatus: 529 }),
      error({ phase: 'headers' }),
      error({ phase: 'first_frame' }),
    ];
    const others = [
      error({ upstreamStatus: 500 }),
      error({ upstreamStatus: 429, failure: 'overloaded' }),
      error({ phase: 'idle' }),
      new GatewayError('circuit_open', 'ours'),
    ];
    expect(overloads.map(isOverload)).toEqual([true, true, true, true]);
    expect(others.map(isOverload)).toEqual([false, false, false, false]);
  });
});
