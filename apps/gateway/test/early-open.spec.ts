import { contentOf, dataOf } from './harness/chunks.js';
import { eventually, House, question } from './harness/house.js';
import { errorIn, open, readAll } from './harness/http-caller.js';

const EARLY_MS = 80;
const STREAM = question({ stream: true });
const SERVER = 'POST /v1/chat/completions';

let house: House;

beforeAll(async () => {
  house = await House.start({
    server: { earlyOpenAfterMs: EARLY_MS },
    retry: { budgetRatio: 1, maxHintMs: 2000 },
    breaker: { minAttempts: 10_000 },
    account: { limits: { tokensPerMinute: 1_000_000 }, windowSeconds: 0.2 },
  });
});
afterAll(() => house.close());
afterEach(async () => {
  expect((await house.quiet()).limiter.open).toBe(0);
  await eventually(
    () => house.status(),
    ({ limiter }) => limiter.dimensions.every(({ pausedForMs }) => pausedForMs === 0),
  );
  expect(house.time.armed).toBe(0);
  await house.sim.reset();
  house.spans.clear();
});

const SLOW_429 = { times: 1, status: 429, headers: { 'retry-after-ms': '300' } };

const TOO_LONG = { times: 1, status: 429, headers: { 'retry-after-ms': '900' } };
const IMPATIENT = { 'x-weir-max-wait-ms': '1000' };

describe('a streaming caller who waits long', () => {
  it('has its 200 before anybody knows anything, and the values that would have been headers in a comment', async () => {
    await house.sim.faults(SLOW_429);
    const before = performance.now();
    const incoming = await house.openChat(STREAM);
    const openedAfter = performance.now() - before;
    expect((await house.sim.total()).received).toBe(1);
    expect([incoming.statusCode, incoming.headers['content-type']]).toEqual([200, 'text/event-stream']);
    expect(incoming.headers['x-weir-attempts']).toBeUndefined();
    expect(incoming.headers['x-request-id']).toBeDefined();
    const text = (await readAll(incoming)).toString();
    expect(openedAfter).toBeGreaterThanOrEqual(EARLY_MS);
    expect(performance.now() - before).toBeGreaterThanOrEqual(300);
    expect(text.startsWith(': waiting\n\n')).toBe(true);
    expect(text).toMatch(/^: x-weir-attempts: 2$/m);
    expect(text).toMatch(/^: x-weir-account: main$/m);
    expect(text).toMatch(/^: x-weir-wait-ms: \d{3,}$/m);
    expect(dataOf(text).at(-1)).toBe('[DONE]');
    expect(contentOf(text)).not.toBe('');
  });

  it('is retried as ever: its first frame, not its 200, is the commit point', async () => {
    await house.sim.faults(SLOW_429, { times: 1, status: 503 }, { times: 1, cutAtByte: 40 });
    const { text } = await house.chat(STREAM);
    expect(dataOf(text).at(-1)).toBe('[DONE]');
    expect(await house.sim.total()).toMatchObject({ received: 4, completed: 1 });
    await house.spans.until(SERVER, 1);
    const [span] = house.spans.named(SERVER);
    expect(Number(span?.attributes['weir.time_to_first_chunk'])).toBeGreaterThanOrEqual(0.3);
    expect(span?.attributes).toMatchObject({ 'weir.outcome': 'ok', 'weir.attempts': 4 });
  });

  it('has its error in-band, with what would have been headers in a comment', async () => {
    await house.sim.faults(SLOW_429, TOO_LONG);
    const reply = await house.chat(STREAM, IMPATIENT);
    expect(reply.status).toBe(200);
    expect(reply.text).toMatch(/^: x-weir-reason: upstream_rate_limited$/m);
    expect(reply.text).toMatch(/^: x-should-retry: false$/m);
    expect(reply.text).toMatch(/^: retry-after-ms: \d{3,4}$/m);
    expect(reply.text).toMatch(/^: x-weir-account: main$/m);
    expect(reply.text).toMatch(/^: x-weir-attempts: 2$/m);
    expect(errorIn(reply.text.split('event: error\ndata: ')[1] ?? '').code).toBe('upstream_rate_limited');
    expect(reply.text).not.toContain('[DONE]');
  });

  it('leaves nothing behind when it goes away', async () => {
    await house.sim.faults({ ...SLOW_429, headers: { 'retry-after-ms': '1500' } });
    const gone = new AbortController();
    const incoming = await house.openChat(STREAM, {}, gone.signal);
    incoming.on('error', () => undefined);
    incoming.resume();
    gone.abort();
    await house.quiet();
    expect((await house.sim.total()).received).toBe(1);
  });
});

describe('who is served as ever', () => {
  it('a caller who does not wait long', async () => {
    const reply = await house.chat(STREAM);
    expect(reply.headers['x-weir-attempts']).toBe('1');
    expect(reply.text).not.toContain(': waiting');
    expect(reply.text).not.toContain('x-weir-');
  });

  it('a caller who wants no stream', async () => {
    await house.sim.faults(SLOW_429, TOO_LONG);
    const reply = await house.chat(question(), IMPATIENT);
    expect(reply.status).toBe(429);
    expect(reply.headers['x-weir-reason']).toBe('upstream_rate_limited');
  });

  it('a caller whose request is refused at once', async () => {
    const reply = await open(house.chatUrl, { headers: {}, body: '{}' });
    expect(reply.statusCode).toBe(401);
    await readAll(reply);
  });
});
