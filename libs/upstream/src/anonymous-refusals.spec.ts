import type { GatewayError } from '@weir/kernel';
import { IntakeHarness } from './testing/intake-harness.js';

async function refused(status: number, type: string, body: string): Promise<GatewayError> {
  const harness = new IntakeHarness();
  harness.connect();
  harness.respond(status, { 'content-type': type });
  harness.receive(body);
  harness.intake.ended();
  await harness.clock.advance(0);
  return harness.failure as GatewayError;
}

const PAGE = '<html><head><title>403 Forbidden</title></head><body>Request blocked</body></html>';

describe('a refusal of which nothing shows that the provider made it', () => {
  it.each([
    ['a page', 403, 'text/html', PAGE],
    ['a page under a wrong type', 401, 'application/json', PAGE],
    ['a bare sentence', 403, 'text/plain', 'error code: 1020'],
    ['no body', 401, 'application/json', ''],
    ['half a body', 403, 'application/json', '{"error":{"mess'],
  ])('is told as such, and keeps its code: %s', async (_name, status, type, body) => {
    expect(await refused(status, type, body)).toMatchObject({
      code: 'upstream_auth',
      failure: 'auth',
      anonymous: true,
    });
  });

  it('may be about money, too', async () => {
    expect(await refused(402, 'text/html', PAGE)).toMatchObject({
      failure: 'quota_exhausted',
      anonymous: true,
    });
  });
});

describe('a refusal of the provider', () => {
  it.each([
    [403, '{"error":{"message":"no"}}'],
    [401, '{"error":"Unauthorized"}'],
    [401, '[{"error":{"code":401}}]'],
    [402, '{}'],
    [429, '{"error":{"type":"insufficient_quota"}}'],
  ])('is its own: %i %s', async (status, body) => {
    expect(await refused(status, 'application/json', body)).toMatchObject({ anonymous: false });
  });

  it('is its own inside a stream of its own', async () => {
    const event = 'event: error\ndata: insufficient balance\n\n';
    expect(await refused(200, 'text/event-stream', event)).toMatchObject({ anonymous: false });
  });
});
