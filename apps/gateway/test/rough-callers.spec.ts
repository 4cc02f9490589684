import type { Server } from 'node:http';
import { dataOf } from './harness/chunks.js';
import { RawCaller, rawPost } from './harness/http-caller.js';
import { eventually, House, pause, question, TEAM_KEY } from './harness/house.js';
import { running } from './harness/simulator-control.js';

const AUTH = `authorization: Bearer ${TEAM_KEY}`;
const PATH = '/v1/chat/completions';
const STREAM = JSON.stringify(question({ stream: true }));

let house: House;

beforeAll(async () => {
  house = await House.start({ account: { limits: { concurrency: 600 } } });
});
afterAll(() => house.close());

/** Whatever a caller did: nothing is left of it, on either side. */
afterEach(async () => {
  const { answers, limiter } = await house.quiet();
  expect(answers).toEqual({ open: 0, bufferedBytes: 0 });
  expect([limiter.open, limiter.waiting, limiter.leaked]).toEqual([0, 0, 0]);
  expect(
    running(
      await eventually(
        () => house.sim.total(),
        (tally) => running(tally) === 0,
      ),
    ),
  ).toBe(0);
  expect(house.time.armed).toBe(0);
  expect(house.logLines.splice(0).filter((line) => line.includes('"unexpected"'))).toEqual([]);
  await house.sim.reset();
});

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}

describe('one connection', () => {
  it('carries requests one after another', async () => {
    const caller = await RawCaller.connect(house.url);
    for (let number = 1; number <= 3; number += 1) {
      caller.write(rawPost(PATH, [AUTH], STREAM));
      while (count(caller.text, '[DONE]') < number) await pause(5);
    }
    expect(count(caller.text, 'HTTP/1.1 200')).toBe(3);
    caller.close();
  });

  it('carries pipelined requests, answered in order', async () => {
    const caller = await RawCaller.connect(house.url);
    caller.write(
      rawPost(PATH, [AUTH], STREAM) +
        rawPost(PATH, [AUTH], '{}') +
        rawPost(PATH, [AUTH, 'connection: close'], STREAM),
    );
    const text = await caller.untilEnded();
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400', 'HTTP/1.1 200']);
    expect(count(text, '[DONE]')).toBe(2);
    caller.close();
  });

  it('that closes lets go of every request that was pipelined on it', async () => {
    await house.sim.behaviour({ frames: 200, frameBytes: 65_536 });
    const caller = await RawCaller.connect(house.url);
    caller.socket.pause();
    caller.write(rawPost(PATH, [AUTH], STREAM).repeat(3));
    await eventually(
      () => house.sim.total(),
      ({ received }) => received === 3,
    );
    await pause(100);
    caller.close();
    const { limiter } = await house.quiet();
    expect(limiter.open).toBe(0);
    expect(
      await eventually(
        () => house.sim.total(),
        ({ aborted }) => aborted === 3,
      ),
    ).toMatchObject({ received: 3, aborted: 3 });
  });

  it('is half closed by its caller: it gets its answer or its end, and nothing stays', async () => {
    await house.sim.behaviour({ frames: 50, tokensPerSecond: 100 });
    const caller = await RawCaller.connect(house.url);
    caller.write(rawPost(PATH, [AUTH], STREAM));
    caller.socket.end();
    await caller.untilEnded();
    caller.close();
  });

  it('on which garbage follows the request is closed, and nothing is written into the stream', async () => {
    await house.sim.behaviour({ frames: 1000, tokensPerSecond: 100 });
    const caller = await RawCaller.connect(house.url);
    caller.write(rawPost(PATH, [AUTH], STREAM));
    await caller.until('"content":"');
    caller.write('\x00garbage\r\n\r\n');
    const text = await caller.untilEnded();
    expect(count(text, 'HTTP/1.1 ')).toBe(1);
    caller.close();
  });

  it('that is reset in the middle of a stream', async () => {
    await house.sim.behaviour({ frames: 1000, tokensPerSecond: 100 });
    const caller = await RawCaller.connect(house.url);
    caller.write(rawPost(PATH, [AUTH], STREAM));
    await caller.until('"content":"');
    caller.socket.resetAndDestroy();
  });

  it('whose caller waits for 100 gets it, and then its answer', async () => {
    const caller = await RawCaller.connect(house.url);
    caller.write(rawPost(PATH, [AUTH, 'expect: 100-continue', `content-length: ${STREAM.length}`], ''));
    expect(await caller.until('\r\n\r\n')).toMatch(/^HTTP\/1\.1 100 Continue\r\n/);
    caller.write(STREAM);
    expect(await caller.until('[DONE]')).toContain('HTTP/1.1 200');
    caller.close();
  });

  it('whose caller offers another protocol keeps this one', async () => {
    const caller = await RawCaller.connect(house.url);
    caller.write(
      rawPost(
        PATH,
        [
          AUTH,
          'connection: Upgrade, HTTP2-Settings',
          'upgrade: h2c',
          'http2-settings: AAMAAABkAAQAoAAAAAIAAAAA',
        ],
        STREAM,
      ),
    );
    expect(await caller.until('[DONE]')).toMatch(/^HTTP\/1\.1 200 /);
    caller.close();
  });

  it('whose body comes byte by byte, in chunks', async () => {
    const caller = await RawCaller.connect(house.url);
    caller.write(rawPost(PATH, [AUTH, 'transfer-encoding: chunked'], ''));
    for (const byte of STREAM) {
      caller.write(`1\r\n${byte}\r\n`);
      await new Promise((resolve) => setImmediate(resolve));
    }
    caller.write('0\r\n\r\n');
    expect(await caller.until('[DONE]')).toMatch(/^HTTP\/1\.1 200 /);
    caller.close();
  });

  it('from HTTP/1.0 is answered, and closed after it', async () => {
    const caller = await RawCaller.connect(house.url);
    caller.write(rawPost(PATH, [AUTH], STREAM).replace('HTTP/1.1', 'HTTP/1.0'));
    expect(await caller.untilEnded()).toContain('[DONE]');
    caller.close();
  });
});

describe('many', () => {
  it('500 streams at once are all whole', async () => {
    await house.sim.quota({ requestsPerMinute: null, tokensPerMinute: null, concurrency: null });
    await house.sim.behaviour({ frames: 20, tokensPerSecond: 20 });
    const replies = await Promise.all(
      Array.from({ length: 500 }, (_, index) => house.chat(question({ stream: true }, `q${index}`))),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    expect(replies.filter(({ text }) => dataOf(text).at(-1) !== '[DONE]')).toEqual([]);
    const { completed, peakConcurrent } = await house.sim.total();
    expect(completed).toBe(500);
    expect(peakConcurrent).toBeGreaterThan(100);
  });
});

describe('a caller that sends its request too slowly', () => {
  it('does not hold its connection for ever', () => {
    const { server } = house.gateway.app.getHttpAdapter().getInstance() as {
      server: Server;
    };
    expect(server.headersTimeout).toBeGreaterThan(0);
    expect(server.requestTimeout).toBeGreaterThan(0);
    expect(server.requestTimeout).toBeLessThanOrEqual(300_000);
  });
});
