import { digestKey } from '@weir/config';
import { House, MODEL, OTHER_MODEL, TEAM_KEY } from './harness/house.js';
import { errorIn, send, type Reply } from './harness/http-caller.js';

const SLASHED = 'vendor/real-1';
const KEY = { authorization: `Bearer ${TEAM_KEY}` };
const TIME = expect.any(Number) as unknown;

let house: House;

beforeAll(async () => {
  house = await House.start({
    account: {
      models: { [MODEL]: {}, [OTHER_MODEL]: {}, [SLASHED]: {} },
      limits: { tokensPerMinute: 100_000 },
    },
  });
});
afterAll(() => house.close());
afterEach(async () => {
  await house.quiet();
  await house.sim.reset();
  house.spans.clear();
});

function get(path: string, headers: Readonly<Record<string, string>> = KEY): Promise<Reply> {
  return send(`${house.url}${path}`, { headers });
}

function embed(body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
  return send(`${house.url}/v1/embeddings`, {
    headers: { ...KEY, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

describe('GET /v1/models', () => {
  it('lists the routes', async () => {
    const model = (id: string): object => ({ id, object: 'model', created: TIME, owned_by: 'weir' });
    expect((await get('/v1/models')).json).toEqual({
      object: 'list',
      data: [MODEL, OTHER_MODEL, SLASHED].map(model),
    });
    for (const id of [MODEL, SLASHED]) expect((await get(`/v1/models/${id}`)).json).toEqual(model(id));
    expect((await get(`/v1/models/${encodeURIComponent(SLASHED)}`)).json).toEqual(model(SLASHED));
  });

  it('knows no others', async () => {
    for (const id of ['nobody', 'constructor', '__proto__']) {
      const reply = await get(`/v1/models/${id}`);
      expect([reply.status, errorIn(reply.text).code]).toEqual([404, 'model_not_found']);
    }
  });

  it('is for teams only, and calls nobody', async () => {
    for (const path of ['/v1/models', `/v1/models/${MODEL}`]) expect((await get(path, {})).status).toBe(401);
    expect((await house.sim.total()).received).toBe(0);
  });
});

describe('POST /v1/embeddings', () => {
  it.each([
    ['a text', 'hello there'],
    ['texts', ['hello', 'there']],
    ['tokens', [1, 2, 3]],
    ['lists of tokens', [[1, 2], [3]]],
  ])('of %s is paced, answered and charged as a chat is', async (_, input) => {
    const reply = await embed({ model: MODEL, input });
    expect(reply.status).toBe(200);
    expect(reply.headers).toMatchObject({ 'x-weir-attempts': '1', 'x-weir-account': 'main' });
    const { data, usage } = reply.json as { data: readonly object[]; usage: { prompt_tokens: number } };
    expect(data.length).toBe(typeof input === 'string' || typeof input[0] === 'number' ? 1 : input.length);
    await house.quiet();
    expect(await house.sim.total()).toMatchObject({
      completed: 1,
      tokens: { prompt: usage.prompt_tokens, completion: 0 },
    });
    await house.spans.until('POST /v1/embeddings', 1);
    const [span] = house.spans.named('POST /v1/embeddings');
    expect(span?.attributes).toMatchObject({ 'weir.outcome': 'ok', 'weir.tokens.used': usage.prompt_tokens });
    expect(house.spans.named(`embeddings ${MODEL}`)).toHaveLength(1);
  });

  it('is asked again after a 429', async () => {
    await house.sim.faults({ times: 1, status: 429, headers: { 'retry-after-ms': '50' } });
    const reply = await embed({ model: MODEL, input: 'x' });
    expect([reply.status, reply.headers['x-weir-attempts']]).toEqual([200, '2']);
  });

  it('reaches the provider as it was written', async () => {
    const reply = await embed(
      `{ "input":"x","model" : "${MODEL}","dimensions":8,"encoding_format":"base64" }`,
    );
    const { data } = reply.json as { data: readonly { embedding: unknown }[] };
    expect(typeof data[0]?.embedding).toBe('string');
  });

  it.each([
    ['no input', { model: MODEL }, 400, 'invalid_request'],
    ['no model of ours', { model: 'nobody', input: 'x' }, 404, 'model_not_found'],
    ['no JSON', '{', 400, 'invalid_request'],
  ])('with %s is refused, and calls nobody', async (_, body, status, code) => {
    const reply = await embed(body);
    expect([reply.status, errorIn(reply.text).code]).toEqual([status, code]);
    expect((await house.sim.total()).received).toBe(0);
  });

  it('counts against the team: tokens that the caller counted itself exactly, texts as estimated', async () => {
    const strict = await House.start({
      teams: [{ id: 'search', keys: [digestKey(TEAM_KEY)], limits: { tokensPerMinute: 100 } }],
    });
    const codes = [Array.from({ length: 101 }, () => 1), 'x'.repeat(1000)].map(async (input) => {
      const reply = await send(`${strict.url}/v1/embeddings`, {
        headers: KEY,
        body: JSON.stringify({ model: MODEL, input }),
      });
      return errorIn(reply.text).code;
    });
    expect(await Promise.all(codes)).toEqual(['cost_exceeds_capacity', 'cost_exceeds_capacity']);
    await strict.close();
  });
});
