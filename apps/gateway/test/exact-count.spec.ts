import { digestKey } from '@weir/config';
import { TokenCounter, type WorkerTokenCounter } from '@weir/limiter';
import { errorIn, send } from './harness/http-caller.js';
import { eventually, House, MODEL, question, TEAM_KEY, type HouseOptions } from './harness/house.js';

/** Texts, what o200k_base has of them, and what four characters a token would make of them. */
const PLAIN = { text: 'one two three four\n'.repeat(400), tokens: 2_000, estimated: 1_908 };
const SPARSE = { text: ' internationalization responsibilities'.repeat(158), tokens: 474, estimated: 1_509 };
const DENSE = { text: '1;'.repeat(1_500), tokens: 3_000, estimated: 758 };
/** Words for which a byte-pair tokenizer needs the square of their length: half a second, and many. */
const [SLOW, HOSTILE] = ['a'.repeat(50_000), 'a'.repeat(400_000)];
/** Around one message. */
const FRAME = 7;
const BOUND = 100;

let house: House;

async function start(tokensPerMinute: number, options: HouseOptions = {}): Promise<void> {
  const account = { limits: { tokensPerMinute, shape: 'sliding' }, windowSeconds: 1 };
  house = await House.start({ account, ...options });
}
afterEach(() => house.close());

const counter = (): WorkerTokenCounter => house.gateway.app.get<WorkerTokenCounter>(TokenCounter);

function ask(content: string, changes: object = {}): object {
  return question({ max_tokens: BOUND, ...changes }, content);
}

/** What the permits of all requests so far reserved. */
function reserved(): readonly unknown[] {
  return house.spans.named('weir.acquire').map(({ attributes }) => attributes['weir.tokens.requested']);
}

async function expectNever(body: object, says: string, headers: Record<string, string> = {}): Promise<void> {
  const reply = await house.chat(body, headers);
  expect([reply.status, errorIn(reply.text).code]).toEqual([400, 'cost_exceeds_capacity']);
  expect(errorIn(reply.text).message).toContain(says);
  expect((await house.sim.total()).received).toBe(0);
}

describe('a prompt that an estimate cannot judge', () => {
  it.each([false, true])(
    'is served where it fits by its count, and not by its estimate (stream: %s)',
    async (stream) => {
      await start(1_000);
      expect(SPARSE.estimated).toBeGreaterThan(1_000);
      expect((await house.chat(ask(SPARSE.text, { stream }))).status).toBe(200);
      const { received, completed } = await house.sim.total();
      expect([received, completed]).toEqual([1, 1]);
      await house.quiet();
      expect(reserved()).toEqual([SPARSE.tokens + FRAME + BOUND]);
    },
  );

  it('is refused where it fits by its estimate, and not by its count', async () => {
    await start(1_000);
    expect(DENSE.estimated + BOUND).toBeLessThan(1_000);
    await expectNever(
      ask(DENSE.text),
      `needs ${DENSE.tokens + FRAME + BOUND} tokens, but account:main:tokens allows 1000`,
    );
  });

  it('is refused with its count where it fits by neither', async () => {
    await start(1_000);
    await expectNever(ask(PLAIN.text), `needs ${PLAIN.tokens + FRAME + BOUND} tokens`);
  });

  it('is judged by the limit of its team as by any other', async () => {
    const teams = [{ id: 'search', keys: [digestKey(TEAM_KEY)], limits: { tokensPerMinute: 1_000 } }];
    await start(1_000_000, { teams });
    await expectNever(
      ask(DENSE.text),
      `needs ${DENSE.tokens + FRAME + BOUND} tokens, but team:search:tokens`,
    );
  });

  it('leaves what the limit holds beside its count to an output that nobody bounded', async () => {
    await start(1_000);
    expect((await house.chat(question({}, SPARSE.text))).status).toBe(200);
    await house.quiet();
    const [tokens] = reserved();
    expect(tokens).toBeGreaterThan(SPARSE.tokens + FRAME);
    expect(tokens).toBeLessThanOrEqual(1_000);
  });

  it('may be one for embeddings', async () => {
    await start(1_000);
    const headers = { authorization: `Bearer ${TEAM_KEY}`, 'content-type': 'application/json' };
    const embed = (input: string) =>
      send(`${house.url}/v1/embeddings`, { headers, body: JSON.stringify({ model: MODEL, input }) });
    const refused = await embed(PLAIN.text);
    expect(errorIn(refused.text)).toMatchObject({ code: 'cost_exceeds_capacity' });
    expect(errorIn(refused.text).message).toContain(`needs ${PLAIN.tokens} tokens`);
    expect((await house.sim.total()).received).toBe(0);
    expect((await embed(SPARSE.text)).status).toBe(200);
    expect((await house.sim.total()).received).toBe(1);
  });
});

describe('the thread that counts', () => {
  it('is there for no request that an estimate can judge, and gone with the gateway', async () => {
    await start(10_000);
    expect((await house.chat(ask('hello'))).status).toBe(200);
    expect((await house.chat(ask(PLAIN.text))).status).toBe(200);
    expect((await house.chat(ask('hello', { max_tokens: 20_000 }))).status).toBe(400);
    expect((await house.chat(ask('x'.repeat(130_000)))).status).toBe(400);
    expect(counter().started).toBe(false);
    expect((await house.chat(ask(PLAIN.text.repeat(2)))).status).toBe(200);
    const ended = counter();
    expect(ended.started).toBe(true);
    await house.close();
    expect(ended.started).toBe(false);
  });

  it('lets who is too slow for its caller go by the estimate', async () => {
    await start(100_000);
    const estimated = HOSTILE.length / 4 + 8 + BOUND;
    await expectNever(ask(HOSTILE), `needs ${estimated} tokens`, { 'x-weir-max-wait-ms': '300' });
  });

  it('is left behind by a caller who leaves: nothing is taken, nothing sent, and its conversation goes on', async () => {
    await start(20_000);
    const conversation = { 'x-conversation-id': 'z' };
    const controller = new AbortController();
    const left = house.openChat(ask(SLOW), conversation, controller.signal).catch(() => 'left');
    await eventually(async () => counter().started, Boolean);
    controller.abort();
    expect(await left).toBe('left');
    await house.quiet();
    expect(reserved()).toEqual([]);
    expect((await house.chat(ask('hello'), conversation)).status).toBe(200);
    expect((await house.sim.total()).received).toBe(1);
    expect(reserved()).toHaveLength(1);
  });

  it('tells nobody what it counts', async () => {
    await start(1_000);
    await house.chat(ask(DENSE.text));
    await house.chat(ask(SPARSE.text));
    await house.quiet();
    const spans = house.spans.spans.map(({ name, attributes, status }) => ({ name, attributes, status }));
    const told = JSON.stringify([house.logLines, spans, await house.status(), [...(await house.metrics())]]);
    expect(told).not.toMatch(/1;1;|internationalization/);
  });
});
