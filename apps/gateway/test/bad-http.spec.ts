import { errorIn, RawCaller, rawPost, send } from './harness/http-caller.js';
import { House, question, TEAM_KEY } from './harness/house.js';

let house: House;

beforeAll(async () => {
  // A day's quota is not supposed spent at the start, so its use shows every charge there ever was.
  house = await House.start({ account: { limits: { requestsPerDay: 1_000_000, concurrency: 4 } } });
});
afterAll(() => house.close());

/** Whatever was sent: nothing was charged, nothing hangs, and the next request is served. */
afterEach(async () => {
  const { answers, limiter } = await house.quiet();
  expect(answers).toEqual({ open: 0, bufferedBytes: 0 });
  expect(limiter).toMatchObject({ open: 0, waiting: 0 });
  expect(await used()).toBe(0);
  expect((await house.sim.total()).received).toBe(0);
  expect(house.logLines.splice(0).filter((line) => line.includes('"unexpected"'))).toEqual([]);
});

async function used(): Promise<number> {
  const { limiter } = await house.status();
  return limiter.dimensions
    .filter(({ unit }) => unit === 'requests_per_day' || unit === 'slots')
    .reduce((sum, dimension) => sum + dimension.used, 0);
}

describe('methods and paths that lead nowhere', () => {
  it.each(['GET', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])('%s on the chat path', async (method) => {
    const reply = await send(house.chatUrl, { method, headers: { authorization: `Bearer ${TEAM_KEY}` } });
    expect(reply.status).toBe(404);
    expect(errorIn(reply.text)).toMatchObject({ code: 'invalid_request' });
    expect(errorIn(reply.text).message).toContain('POST /v1/chat/completions');
  });

  it('HEAD, without a body', async () => {
    const reply = await send(house.chatUrl, { method: 'HEAD' });
    expect([reply.status, reply.text]).toEqual([404, '']);
  });

  it.each([
    '/v1/chat/completions/',
    '/v1/nothing',
    '/%',
    '/v1/chat%2fcompletions',
    '//v1/chat/completions',
    '/..%2f..%2fetc/passwd',
  ])('POST %s', async (path) => {
    const caller = await RawCaller.connect(house.url);
    caller.write(rawPost(path, [`authorization: Bearer ${TEAM_KEY}`, 'connection: close'], '{}'));
    const text = await caller.untilEnded();
    expect(text).toMatch(/^HTTP\/1\.1 40[04] /);
    expect(errorIn(text.split('\r\n\r\n')[1] ?? '').code).toBe('invalid_request');
    caller.close();
  });
});

describe('bytes that are not HTTP', () => {
  const auth = `authorization: Bearer ${TEAM_KEY}`;
  const body = JSON.stringify(question());
  it.each<readonly [string, string, RegExp]>([
    ['garbage', '\x00\x01\x02 garbage\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['a TLS hello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['HTTP/2 without asking', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', /^HTTP\/1\.1 [45]0\d /],
    [
      'headers of 100 KB',
      rawPost('/v1/chat/completions', [auth, `x-big: ${'x'.repeat(100_000)}`], body),
      /^HTTP\/1\.1 431 /,
    ],
    [
      'a header with a null byte',
      rawPost('/v1/chat/completions', [auth, 'x-null: a\0b'], body),
      /^HTTP\/1\.1 400 /,
    ],
    [
      'two lengths',
      rawPost('/v1/chat/completions', [auth, 'content-length: 5', 'content-length: 6'], 'hello'),
      /^HTTP\/1\.1 400 /,
    ],
    [
      'a length that is no number',
      rawPost('/v1/chat/completions', [auth, 'content-length: -5'], 'hello'),
      /^HTTP\/1\.1 400 /,
    ],
    [
      'a length and chunks',
      rawPost('/v1/chat/completions', [auth, 'content-length: 5', 'transfer-encoding: chunked'], '0\r\n\r\n'),
      /^HTTP\/1\.1 400 /,
    ],
    [
      'chunks that are none',
      rawPost('/v1/chat/completions', [auth, 'transfer-encoding: chunked'], 'zz\r\nhello\r\n'),
      /^HTTP\/1\.1 400 /,
    ],
    [
      'no host',
      `POST /v1/chat/completions HTTP/1.1\r\n${auth}\r\ncontent-length: 0\r\n\r\n`,
      /^HTTP\/1\.1 400 /,
    ],
  ])('%s', async (_name, bytes, status) => {
    const caller = await RawCaller.connect(house.url);
    caller.write(Buffer.from(bytes, 'latin1'));
    const text = await caller.until('"error"');
    expect(text).toMatch(status);
    expect(errorIn(text.split('\r\n\r\n')[1] ?? '').message).toMatch(/\w/);
    caller.close();
  });

  it('a body shorter than it says ends when the caller goes, and charges nothing', async () => {
    const caller = await RawCaller.connect(house.url);
    caller.write(rawPost('/v1/chat/completions', [auth, `content-length: ${body.length + 10}`], body));
    caller.socket.end();
    await caller.untilEnded();
    caller.close();
  });

  it('a body longer than it says is the start of a request that is refused', async () => {
    const caller = await RawCaller.connect(house.url);
    caller.write(rawPost('/v1/chat/completions', [auth, 'content-length: 2'], `{}${body}`));
    const text = await caller.untilEnded();
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    caller.close();
  });
});

describe('a connection that was refused once', () => {
  it('serves the next request, whose bytes are not mistaken for the body before', async () => {
    const caller = await RawCaller.connect(house.url);
    caller.write(
      rawPost('/v1/chat/completions', ['authorization: Bearer nobody'], JSON.stringify(question())),
    );
    await caller.until('unauthorized');
    caller.write(
      rawPost(
        '/v1/chat/completions',
        [`authorization: Bearer ${TEAM_KEY}`],
        '{"model":"gpt-9","messages":[{"role":"user","content":"x"}]}',
      ),
    );
    expect(await caller.until('model_not_found')).toMatch(/HTTP\/1\.1 401 [^]*HTTP\/1\.1 404 /);
    caller.close();
  });

  it('answers headers beyond all bounds on it, too', async () => {
    const caller = await RawCaller.connect(house.url);
    caller.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
    await caller.until('"ok"');
    caller.write(`GET /healthz HTTP/1.1\r\nhost: x\r\nx-big: ${'z'.repeat(20_000)}\r\n\r\n`);
    expect(await caller.until('16 KiB')).toMatch(/HTTP\/1\.1 431 [^]*x-request-id: /);
    caller.close();
  });

  it('is not cut under a caller who still sends a body that is too large', async () => {
    for (let round = 0; round < 5; round += 1) {
      const reply = await fetch(`${house.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TEAM_KEY}`, 'content-type': 'application/json' },
        body: piecesOf(20_000_000),
        duplex: 'half',
      });
      expect(reply.status).toBe(413);
      expect(await reply.text()).toContain('body_too_large');
    }
  });

  it('does not wait for a body that it will not read', async () => {
    const caller = await RawCaller.connect(house.url);
    const head = [`authorization: Bearer ${TEAM_KEY}`, 'content-length: 20000000', 'expect: 100-continue'];
    caller.write(rawPost('/v1/chat/completions', head, ''));
    const text = await caller.until('body_too_large');
    expect(text).toMatch(/HTTP\/1\.1 413 /);
    caller.close();
  });
});

describe('what Node would answer by itself', () => {
  it('has our shape: an expectation that nobody can meet', async () => {
    const caller = await RawCaller.connect(house.url);
    caller.write(rawPost('/v1/chat/completions', ['expect: wonders'], ''));
    expect(await caller.until('100-continue')).toMatch(/HTTP\/1\.1 417 [^]*"code":"invalid_request"/);
    caller.close();
  });

  it('has our shape: a tunnel', async () => {
    const caller = await RawCaller.connect(house.url);
    caller.write('CONNECT example.com:443 HTTP/1.1\r\nhost: example.com\r\n\r\n');
    expect(await caller.until('no proxy')).toMatch(/HTTP\/1\.1 405 [^]*"code":"invalid_request"/);
    caller.close();
  });
});

/** A body of unknown length, in pieces of 64 KiB. */
function piecesOf(bytes: number): ReadableStream<Uint8Array> {
  let left = bytes;
  return new ReadableStream({
    pull: (controller) => {
      const piece = new Uint8Array(Math.min(left, 65_536)).fill(0x20);
      left -= piece.length;
      controller.enqueue(piece);
      if (left === 0) controller.close();
    },
  });
}
