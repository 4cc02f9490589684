import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERRORS, GatewayError, toGatewayError } from './gateway-error.js';

describe('GatewayError', () => {
  it('has the codes, statuses of docs/errors.md, no more and no less', () => {
    const page = readFileSync(join(__dirname, '../../../docs/errors.md'), 'utf8');
    const rows = [...page.matchAll(/^\| `(\w+)` +\| ([^|]+) \|/gm)].map((row) => [row[1], row[2]?.trim()]);
    const special: Record<string, string> = {
      upstream_rejected: "as the provider's",
      stream_truncated: 'in-band',
      client_disconnected: 'none',
    };
    const expected = Object.entries(ERRORS).map(([code, { status }]) => [
      code,
      special[code] ?? String(status),
    ]);
    expect(rows).toEqual(expected);
  });

  it('shows the status of what passes through', () => {
    const passThrough = { status: 422, contentType: 'application/json', body: new Uint8Array() };
    expect(new GatewayError('upstream_rejected', 'no', { passThrough }).status).toBe(422);
    expect(new GatewayError('queue_full', 'full').status).toBe(503);
  });

  it('is the same after calls, and tells them', () => {
    const cause = new Error('reset');
    const detail = { origin: 'provider', failure: 'overloaded', hintMs: 5, param: 'x', cause } as const;
    const error = new GatewayError('upstream_unavailable', 'no', { ...detail, sent: true, anonymous: true });
    const calls = { account: 'main', attempts: 2 };
    const told = error.after(calls);
    expect(told).toMatchObject({ ...detail, sent: true, anonymous: true, calls });
    expect([told.message, told.cause, told.status, error.calls]).toEqual(['no', cause, 502, undefined]);
    expect(told).toBeInstanceOf(GatewayError);
  });

  it('keeps the text of a bug out of the message', () => {
    const bug = new TypeError('secret prompt in here');
    const error = toGatewayError(bug);
    expect(error.code).toBe('internal');
    expect(error.message).not.toContain('secret');
    expect(error.cause).toBe(bug);
    expect(toGatewayError(error)).toBe(error);
  });
});
