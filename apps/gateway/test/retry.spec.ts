import { createHash } from 'node:crypto';
import { contentOf, dataOf, simHashOf } from './harness/chunks.js';
import { errorIn, type Reply } from './harness/http-caller.js';
import { House, MODEL, question } from './harness/house.js';
import type { SpanLog } from './harness/span-log.js';
import { idOf, linksOf, parentOf } from './harness/span-log.js';

interface Completion {
  readonly choices: readonly { readonly message: { readonly content: string } }[];
}

const STREAM = question({ stream: true });

/** Half of the first frame of a stream of the simulator. */
const BEFORE_THE_FIRST_FRAME = 40;
const TIMEOUT_MS = 60_000;
const SERVER = 'POST /v1/chat/completions';

let house: House;

beforeAll(async () => {
  house = await House.start({
    retry: { maxHintMs: 2000, budgetRatio: 1 },
    account: { limits: { tokensPerMinute: 1_000_000 }, windowSeconds: 0.2 },
  });
});
afterAll(() => house.close());
afterEach(async () => {
  await house.quiet();
  await house.sim.reset();
  house.reload();
  house.spans.clear();
});

/** Whole, and the text that the simulator says it sent. */
function expectWhole(reply: Reply): void {
  expect(reply.status).toBe(200);
  expect(dataOf(reply.text).at(-1)).toBe('[DONE]');
  expect(createHash('sha256').update(contentOf(reply.text)).digest('hex')).toBe(simHashOf(reply.text));
}

function throttled(times: number, headers: object = {}): object {
  return { times, status: 429, headers };
}

describe('a 429 with retry-after-ms: 200', () => {
  it('is retried after at least 200 ms, and the answer is whole', async () => {
    await house.sim.faults(throttled(1, { 'retry-after-ms': '200' }));
    const before = performance.now();
    const reply = await house.chat(STREAM);
    expect(performance.now() - before).toBeGreaterThanOrEqual(200);
    expectWhole(reply);
    expect(reply.headers['x-weir-attempts']).toBe('2');
    expect(Number(reply.headers['x-weir-wait-ms'])).toBeGreaterThanOrEqual(200);
    expect(await house.sim.total()).toMatchObject({ received: 2, completed: 1, rejected: { fault: 1 } });
  });

  it('shows in the spans: two attempts, one retry, one refund of tokens and none of requests', async () => {
    await house.sim.faults(throttled(1, { 'retry-after-ms': '200' }));
    await house.chat(STREAM);
    await house.spans.until(SERVER, 1);
    const [server] = house.spans.named(SERVER);
    expectRetryTree(house.spans, server?.spanContext().traceId ?? '', undefined);
  });

  it('keeps every span below its own request when grants run in the contexts of others', async () => {
    const callers = Array.from({ length: 8 }, (_, index) => ({
      traceId: `${index + 1}`.padStart(32, 'a'),
      spanId: `${index + 1}`.padStart(16, 'b'),
    }));
    // A slow body: all first attempts are on their way before the first of them is refused and pauses the rest.
    await house.sim.faults({
      ...throttled(callers.length, { 'retry-after-ms': '200' }),
      dripBytesPerSecond: 300,
    });
    const replies = await Promise.all(
      callers.map(({ traceId, spanId }) => house.chat(STREAM, { traceparent: `00-${traceId}-${spanId}-01` })),
    );
    replies.forEach(expectWhole);
    await house.spans.until(SERVER, callers.length);
    for (const { traceId, spanId } of callers) expectRetryTree(house.spans, traceId, spanId);
  });
});

/** The tree of observability 1.3 for one request whose first attempt got a 429. */
function expectRetryTree(log: SpanLog, traceId: string, callersSpan: string | undefined): void {
  const [server, ...otherServers] = log.named(SERVER, traceId);
  const [first, second, ...otherAttempts] = log.named(`chat ${MODEL}`, traceId);
  const [retry, ...otherRetries] = log.named('weir.retry', traceId);
  const waits = log.named('weir.queue.wait', traceId);
  const acquires = log.named('weir.acquire', traceId);
  const throttledRefunds = log
    .named('weir.refund', traceId)
    .filter(({ attributes }) => attributes['weir.refund.reason'] === 'throttled');
  expect([otherServers.length, otherAttempts.length, otherRetries.length]).toEqual([0, 0, 0]);
  expect(parentOf(server)).toBe(callersSpan);

  expect(first?.attributes).toMatchObject({
    'http.response.status_code': 429,
    'error.type': '429',
    'weir.attempt.number': 1,
    'weir.attempt.outcome': 'throttled',
    'weir.retry_after_ms': 200,
  });
  expect(second?.attributes).toMatchObject({ 'http.response.status_code': 200, 'weir.attempt.number': 2 });
  expect([linksOf(first), linksOf(second)]).toEqual([[], [idOf(first)]]);

  expect(retry?.attributes).toMatchObject({
    'weir.retry.result': 'scheduled',
    'weir.retry.source': 'retry_after',
  });
  expect(linksOf(retry)).toEqual([idOf(first)]);

  expect(throttledRefunds.map(({ attributes }) => attributes['weir.bucket'])).toEqual(['tpm']);
  expect(throttledRefunds[0]?.attributes['weir.tokens.refunded']).toBeGreaterThan(0);
  expect(linksOf(throttledRefunds[0])).toEqual([idOf(acquires[0])]);
  expect(log.named('weir.refund', traceId).map(({ attributes }) => attributes['weir.bucket'])).not.toContain(
    'rpm',
  );

  expect(waits).toHaveLength(2);
  expect(acquires.map(parentOf)).toEqual(waits.map(idOf));
  const children = [...waits, first, second, retry, ...log.named('weir.refund', traceId)];
  expect(new Set(children.map(parentOf))).toEqual(new Set([idOf(server)]));
  const [relay] = log.named('weir.stream', traceId);
  expect(parentOf(relay)).toBe(idOf(second));
  const clients = log.named('POST', traceId);
  expect(clients.map(parentOf)).toEqual([idOf(first), idOf(second)]);
  expect(server?.attributes).toMatchObject({
    'weir.outcome': 'ok',
    'weir.attempts': 2,
    'http.response.status_code': 200,
  });
  expect(server?.status.code).toBe(0);
}

describe('hints', () => {
  it('retry-after in seconds is waited for in full', async () => {
    await house.sim.faults(throttled(1, { 'retry-after': '1' }));
    const before = performance.now();
    expectWhole(await house.chat(STREAM));
    expect(performance.now() - before).toBeGreaterThanOrEqual(1000);
  });

  it('retry-after as a date is waited for until that date', async () => {
    const until = Math.ceil((Date.now() + 1000) / 1000) * 1000;
    await house.sim.faults(throttled(1, { 'retry-after': new Date(until).toUTCString() }));
    expectWhole(await house.chat(STREAM));
    expect(Date.now()).toBeGreaterThanOrEqual(until);
  });

  it('retry-after-ms comes before retry-after', async () => {
    await house.sim.faults(throttled(1, { 'retry-after-ms': '100', 'retry-after': '90' }));
    expectWhole(await house.chat(STREAM));
  });
});

describe('a hint that is too long', () => {
  // The pause stays, so each of these needs a house of its own.
  let parked: House;
  beforeEach(async () => {
    parked = await House.start({ retry: { maxHintMs: 2000 } });
  });
  afterEach(() => parked.close());

  it('beyond retry.maxHintMs the caller is refused at once, with the real retry-after', async () => {
    await parked.sim.faults(throttled(1, { 'retry-after': '30' }));
    const before = performance.now();
    const reply = await parked.chat(STREAM);
    expect(performance.now() - before).toBeLessThan(5000);
    expectRefused(reply, 29_000, 30_000);
    expect((await parked.sim.total()).received).toBe(1);
  });

  it('beyond x-weir-max-wait-ms the caller is refused at once, with the real retry-after', async () => {
    await parked.sim.faults(throttled(1, { 'retry-after-ms': '1500' }));
    const before = performance.now();
    const reply = await parked.chat(STREAM, {
      'x-weir-max-wait-ms': '500',
    });
    expect(performance.now() - before).toBeLessThan(1500);
    expectRefused(reply, 1000, 1500);
    expect((await parked.sim.total()).received).toBe(1);
  });
});

function expectRefused(reply: Reply, leastMs: number, mostMs: number): void {
  expect(reply.status).toBe(429);
  expect(reply.headers).toMatchObject({
    'x-weir-origin': 'provider',
    'x-weir-reason': 'upstream_rate_limited',
    'x-should-retry': 'false',
  });
  const ms = Number(reply.headers['retry-after-ms']);
  expect(ms).toBeGreaterThan(leastMs);
  expect(ms).toBeLessThanOrEqual(mostMs);
  expect(reply.headers['retry-after']).toBe(String(Math.ceil(ms / 1000)));
  expect(errorIn(reply.text)).toMatchObject({
    type: 'rate_limit_error',
    code: 'upstream_rate_limited',
  });
}

describe('a broken body', () => {
  it('before the first frame is retried: one retry, no token refund, second attempt linked', async () => {
    await house.sim.faults({ times: 1, cutAtByte: BEFORE_THE_FIRST_FRAME });
    expectWhole(await house.chat(STREAM));
    await house.spans.until(SERVER, 1);
    const [first, second, third] = house.spans.named(`chat ${MODEL}`);
    expect(third).toBeUndefined();
    expect(first?.attributes['weir.attempt.outcome']).toBe('error');
    expect(linksOf(second)).toEqual([idOf(first)]);
    const retries = house.spans.named('weir.retry');
    expect(retries.map(linksOf)).toEqual([[idOf(first)]]);
    expect(retries[0]?.attributes).toMatchObject({
      'weir.retry.result': 'scheduled',
      'weir.retry.source': 'computed',
    });
    const reasons = house.spans
      .named('weir.refund')
      .map(({ attributes }) => attributes['weir.refund.reason']);
    expect(reasons).toEqual(['overestimate']);
    expect(await house.sim.total()).toMatchObject({ received: 2, completed: 1, aborted: 1 });
  });

  it('of a plain answer is retried wherever it was cut', async () => {
    await house.sim.faults({ times: 1, cutAtByte: 300 });
    const reply = await house.chat(question());
    expect(reply.status).toBe(200);
    expect(reply.headers['x-weir-attempts']).toBe('2');
    const content = (reply.json as Completion).choices[0]?.message.content ?? '';
    expect(createHash('sha256').update(content).digest('hex')).toBe(reply.headers['x-sim-text-sha256']);
  });

  it('after frame 3 ends in an in-band error and no [DONE], and is not asked again', async () => {
    await house.sim.behaviour({ frames: 10 });
    const whole = await house.chat(STREAM);
    await house.sim.reset();
    await house.sim.behaviour({ frames: 10 });
    const threeFrames = whole.text.split('\n\n').slice(0, 3).join('\n\n').length + 2;
    await house.sim.faults({ times: 1, cutAtByte: threeFrames + 20 });
    const reply = await house.chat(STREAM);
    expect(reply.status).toBe(200);
    expect(reply.text).not.toContain('[DONE]');
    const events = reply.text.split('\n\n').filter((event) => event !== '');
    expect(events).toHaveLength(4);
    expect(withoutIds(events.slice(0, 3))).toEqual(withoutIds(whole.text.split('\n\n').slice(0, 3)));
    expect(events[3]).toMatch(/^event: error\ndata: \{/);
    expect(errorIn(events[3]?.split('data: ')[1] ?? '').code).toBe('stream_truncated');
    expect((await house.sim.total()).received).toBe(1);
    const [, server] = await house.spans.until(SERVER, 2);
    expect(server?.attributes['weir.outcome']).toBe('upstream_error');
  });
});

/** Ids of the simulator's answers differ from call to call. */
function withoutIds(events: readonly string[]): readonly string[] {
  return events.map((event) => event.replace(/"(id|created)":("[^"]*"|\d+)/g, ''));
}

describe('a provider that fails', () => {
  it.each([500, 502, 503])('with %i is asked again after a backoff', async (status) => {
    await house.sim.faults({ times: 1, status });
    expectWhole(await house.chat(STREAM));
    await house.spans.until(SERVER, 1);
    const [retry] = house.spans.named('weir.retry');
    expect(retry?.attributes).toMatchObject({
      'weir.retry.source': 'computed',
      'weir.retry.result': 'scheduled',
    });
    expect((await house.sim.total()).received).toBe(2);
  });

  it('with 503 and a hint is not asked before it', async () => {
    await house.sim.faults({ times: 1, status: 503, headers: { 'retry-after-ms': '300' } });
    const before = performance.now();
    expectWhole(await house.chat(STREAM));
    expect(performance.now() - before).toBeGreaterThanOrEqual(300);
  });

  it('with insufficient_quota is never asked again, and says so', async () => {
    const error = {
      message: 'You exceeded your current quota.',
      type: 'insufficient_quota',
      param: null,
      code: 'insufficient_quota',
    };
    await house.sim.faults({ times: 5, status: 429, body: { error } });
    const reply = await house.chat(STREAM);
    expect(reply.status).toBe(429);
    expect(reply.headers).toMatchObject({ 'x-weir-origin': 'provider', 'x-should-retry': 'false' });
    expect(reply.headers['retry-after']).toMatch(/^\d+$/);
    expect((await house.sim.total()).received).toBe(1);
    await house.spans.until(SERVER, 1);
    expect(house.spans.named(`chat ${MODEL}`)[0]?.attributes['weir.throttle.kind']).toBe('billing');
  });

  it('with 429 in the head of a 200 is asked again', async () => {
    const error = { message: 'Rate limit reached', type: 'rate_limit_error', param: null, code: 429 };
    await house.sim.faults({ times: 1, errorAtFrame: { frame: 2, body: { error } } });
    expectWhole(await house.chat(STREAM));
    await house.spans.until(SERVER, 1);
    const [first, second] = house.spans.named(`chat ${MODEL}`);
    expect(first?.attributes).toMatchObject({
      'http.response.status_code': 429,
      'weir.attempt.outcome': 'throttled',
    });
    expect(linksOf(second)).toEqual([idOf(first)]);
  });

  it('with 401 is our fault, not the caller\u2019s: 502, no retry, no word of the key', async () => {
    const error = {
      message: 'Incorrect API key provided: sim-key',
      type: 'invalid_request_error',
      code: 'invalid_api_key',
    };
    await house.sim.faults({ times: 1, status: 401, body: { error } });
    const reply = await house.chat(STREAM);
    expect(reply.status).toBe(502);
    expect(errorIn(reply.text).code).toBe('upstream_auth');
    expect(reply.text).not.toContain('sim-key');
    expect((await house.sim.total()).received).toBe(1);
  });

  it('with another 4xx is quoted byte for byte, once', async () => {
    const body =
      '{"error":{"message":"no such \\u00fc","type":"invalid_request_error","param":"x","code":null},"more":1.0}';
    await house.sim.faults({ times: 1, status: 422, body });
    const reply = await house.chat(STREAM);
    expect([reply.status, reply.text]).toEqual([422, body]);
    expect(reply.headers).toMatchObject({
      'x-weir-origin': 'provider',
      'x-weir-reason': 'upstream_rejected',
    });
    expect((await house.sim.total()).received).toBe(1);
  });
});

describe('attempts are bounded', () => {
  let bounded: House;
  beforeAll(async () => {
    bounded = await House.start({ retry: { maxAttempts: 3 } });
  });
  afterAll(() => bounded.close());

  it(
    'by maxAttempts, and the last answer is honest',
    async () => {
      await bounded.sim.faults(throttled(10, { 'retry-after-ms': '120' }));
      const reply = await bounded.chat(STREAM);
      expectRefused(reply, 0, 120);
      expect((await bounded.sim.total()).received).toBe(3);
      await bounded.spans.until(SERVER, 1);
      const results = bounded.spans
        .named('weir.retry')
        .map(({ attributes }) => attributes['weir.retry.result']);
      expect(results).toEqual(['scheduled', 'scheduled', 'exhausted']);
      const [server] = bounded.spans.named(SERVER);
      expect(server?.attributes).toMatchObject({ 'weir.outcome': 'upstream_throttled', 'weir.attempts': 3 });
    },
    TIMEOUT_MS,
  );

  it(
    'by the budget of the account: three retries of failures, then none',
    async () => {
      await bounded.sim.reset();
      await bounded.sim.faults({ times: 100, status: 500 });
      const replies = await Promise.all(Array.from({ length: 6 }, () => bounded.chat(STREAM)));
      expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 502));
      for (const { headers } of replies) {
        expect(headers).toMatchObject({
          'x-weir-origin': 'provider',
          'x-weir-reason': 'upstream_unavailable',
        });
      }
      expect((await bounded.sim.total()).received).toBeLessThanOrEqual(6 + 4);
    },
    TIMEOUT_MS,
  );
});
