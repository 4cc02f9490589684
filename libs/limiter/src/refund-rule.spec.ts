import { GatewayError, type FailureClass } from '@weir/kernel';
import { failedVerdict, refundableAfter, settledVerdict } from './refund-rule.js';

const RESERVED = { inputTokens: 60, outputTokens: 20 };

const failure = (failed: FailureClass): GatewayError =>
  new GatewayError('upstream_unavailable', 'no', { failure: failed, sent: true });

describe('refund rule', () => {
  it.each([
    ['rate_limit_requests', 'tokens', 'rejected', 'throttled'],
    ['rate_limit_tokens', 'tokens', 'rejected', 'throttled'],
    ['concurrency', 'everything', 'rejected', 'throttled'],
    ['quota_exhausted', 'tokens', 'rejected', 'error'],
    ['too_large', 'tokens', 'rejected', 'error'],
    ['auth', 'tokens', 'rejected', 'error'],
    ['invalid_request', 'tokens', 'rejected', 'error'],
    ['overloaded', 'tokens', 'failed', 'error'],
    ['transient', 'nothing', 'failed', 'error'],
    ['fatal', 'nothing', 'failed', 'error'],
  ] as const)('after %s gives back %s', (failed, refundable, kind, reason) => {
    expect(refundableAfter(failed)).toBe(refundable);
    const { ending, charge } = failedVerdict(RESERVED, failure(failed), refundable);
    expect(ending.kind).toBe(kind);
    expect(charge.requests).toBe(refundable === 'everything' ? 0 : 1);
    expect(ending.chargedTokens).toBe(refundable === 'nothing' ? 80 : 0);
    expect(ending.refunds.every((refund) => refund.reason === reason)).toBe(true);
    const tokens = ending.refunds.find(({ unit }) => unit === 'tokens')?.amount ?? 0;
    expect(tokens).toBe(ending.reservedTokens - ending.chargedTokens);
  });

  it('charges what was used beyond the reservation, and refunds nothing then', () => {
    const { ending, charge } = settledVerdict(RESERVED, { inputTokens: 70, outputTokens: 30 });
    expect(charge).toEqual({ requests: 1, inputTokens: 70, outputTokens: 30 });
    expect(ending).toEqual({ kind: 'settled', reservedTokens: 80, chargedTokens: 100, refunds: [] });
  });
});
