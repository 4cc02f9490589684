import {
  APIError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  OpenAI,
  RateLimitError,
  AuthenticationError,
} from 'openai';
import { House, MODEL, TEAM_KEY } from './harness/house.js';

const MESSAGES = [{ role: 'user' as const, content: 'hello' }];
const TOOLS = [
  {
    type: 'function' as const,
    function: {
      name: 'weather',
      parameters: {
        type: 'object',
        properties: { city: { type: 'string' }, days: { type: 'integer' } },
        required: ['city'],
      },
    },
  },
];

let house: House;
let client: OpenAI;

beforeAll(async () => {
  house = await House.start();
  client = new OpenAI({ baseURL: `${house.url}/v1`, apiKey: TEAM_KEY, maxRetries: 0 });
});
afterAll(() => house.close());
afterEach(async () => {
  await house.quiet();
  await house.sim.reset();
  house.reload();
});

/** What a call is refused with. */
async function refusal(work: Promise<unknown>): Promise<APIError> {
  const outcome = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (outcome instanceof APIError) return outcome;
  throw new Error('expected an APIError', { cause: outcome });
}

describe('the openai client, with nothing changed but its base URL', () => {
  it('creates a completion', async () => {
    const completion = await client.chat.completions.create({ model: MODEL, messages: MESSAGES });
    expect(completion.object).toBe('chat.completion');
    expect(completion.choices[0]?.message.content).toMatch(/\w+/);
    expect(completion.usage?.total_tokens).toBeGreaterThan(0);
  });

  it('streams the same text', async () => {
    const plain = await client.chat.completions.create({ model: MODEL, messages: MESSAGES });
    const stream = await client.chat.completions.create({ model: MODEL, messages: MESSAGES, stream: true });
    let text = '';
    let finish: string | null | undefined;
    for await (const chunk of stream) {
      expect(chunk.choices).toHaveLength(1);
      text += chunk.choices[0]?.delta.content ?? '';
      finish = chunk.choices[0]?.finish_reason ?? finish;
    }
    expect(text).toBe(plain.choices[0]?.message.content);
    expect(finish).toBe('stop');
  });

  it('gets the usage chunk where it asks for it, and only there', async () => {
    const ask = { model: MODEL, messages: MESSAGES, stream: true as const };
    const usages = [];
    for await (const chunk of await client.chat.completions.create({
      ...ask,
      stream_options: { include_usage: true },
    })) {
      if (chunk.usage) usages.push([chunk.choices.length, chunk.usage.total_tokens > 0]);
    }
    expect(usages).toEqual([[0, true]]);
    for await (const chunk of await client.chat.completions.create(ask)) expect(chunk.usage).toBeUndefined();
  });

  it('calls tools, plain', async () => {
    const completion = await client.chat.completions.create({
      model: MODEL,
      messages: MESSAGES,
      tools: TOOLS,
      tool_choice: 'required',
    });
    const [choice] = completion.choices;
    expect(choice?.finish_reason).toBe('tool_calls');
    const call = choice?.message.tool_calls?.[0];
    if (call?.type !== 'function') throw new Error('no call of a function');
    expect(call.function.name).toBe('weather');
    expect(JSON.parse(call.function.arguments)).toHaveProperty('city');
  });

  it('calls tools in deltas that join to the same arguments', async () => {
    const ask = { model: MODEL, messages: MESSAGES, tools: TOOLS, tool_choice: 'required' as const };
    const plain = await client.chat.completions.create(ask);
    const stream = client.chat.completions.stream(ask);
    const final = await stream.finalChatCompletion();
    const [streamed, whole] = [final, plain].map(({ choices }) => choices[0]?.message.tool_calls?.[0]);
    if (streamed?.type !== 'function' || whole?.type !== 'function') throw new Error('no call of a function');
    expect(streamed.id).toBe(whole.id);
    expect(streamed.function.arguments).toBe(whole.function.arguments);
  });

  it('can leave in the middle of a stream', async () => {
    await house.sim.behaviour({ frames: 10_000, tokensPerSecond: 100 });
    const stream = await client.chat.completions.create({ model: MODEL, messages: MESSAGES, stream: true });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
    const { limiter } = await house.quiet();
    expect(limiter.open).toBe(0);
    expect(await house.sim.total()).toMatchObject({ received: 1, aborted: 1 });
  });
});

describe('its error classes', () => {
  it('400, 401 and 404', async () => {
    const bad = await refusal(
      client.chat.completions.create({ model: MODEL, messages: MESSAGES, max_completion_tokens: -1 }),
    );
    expect(bad).toBeInstanceOf(BadRequestError);
    expect(bad).toMatchObject({
      status: 400,
      code: 'invalid_request',
      param: 'max_completion_tokens',
      type: 'invalid_request_error',
    });

    const stranger = new OpenAI({ baseURL: `${house.url}/v1`, apiKey: 'stranger', maxRetries: 0 });
    const unknown = await refusal(stranger.chat.completions.create({ model: MODEL, messages: MESSAGES }));
    expect(unknown).toBeInstanceOf(AuthenticationError);
    expect(unknown.code).toBe('unauthorized');

    const missing = await refusal(client.chat.completions.create({ model: 'nobody', messages: MESSAGES }));
    expect(missing).toBeInstanceOf(NotFoundError);
    expect(missing).toMatchObject({ code: 'model_not_found', param: 'model' });
  });

  it('429, which its own retries leave alone', async () => {
    const error = { message: 'no', type: 'insufficient_quota', param: null, code: 'insufficient_quota' };
    await house.sim.faults({ times: 9, status: 429, body: { error } });
    const retrying = new OpenAI({ baseURL: `${house.url}/v1`, apiKey: TEAM_KEY, maxRetries: 3 });
    const limited = await refusal(retrying.chat.completions.create({ model: MODEL, messages: MESSAGES }));
    expect(limited).toBeInstanceOf(RateLimitError);
    expect(limited.headers?.get('x-weir-origin')).toBe('provider');
    expect((await house.sim.total()).received).toBe(1);
  });

  it('an error in the middle of a stream is thrown, not swallowed', async () => {
    await house.sim.behaviour({ frames: 10 });
    await house.sim.faults({
      times: 1,
      errorAtFrame: { frame: 5, body: { error: { message: 'x', type: 'server_error' } } },
    });
    const stream = await client.chat.completions.create({ model: MODEL, messages: MESSAGES, stream: true });
    const read = async (): Promise<void> => {
      for await (const chunk of stream) expect(chunk.object).toBe('chat.completion.chunk');
    };
    expect(await refusal(read())).toBeInstanceOf(APIError);
  });

  it('503', async () => {
    const full = await House.start({
      account: { limits: { concurrency: 1 } },
      queue: { maxDepth: 1 },
    });
    await full.sim.behaviour({ frames: 1000, tokensPerSecond: 50 });
    const busy = new OpenAI({ baseURL: `${full.url}/v1`, apiKey: TEAM_KEY, maxRetries: 0 });
    const abort = new AbortController();
    const ask = { model: MODEL, messages: MESSAGES, stream: true as const };
    const running = await busy.chat.completions.create(ask, { signal: abort.signal });
    const waiting = busy.chat.completions
      .create(ask, { signal: abort.signal })
      .catch((thrown: unknown) => thrown);
    while ((await full.status()).limiter.waiting === 0);
    const refused = await refusal(busy.chat.completions.create(ask));
    expect(refused).toBeInstanceOf(InternalServerError);
    expect(refused).toMatchObject({ status: 503, code: 'queue_full' });
    expect(Number(refused.headers?.get('retry-after'))).toBeGreaterThan(0);
    abort.abort();
    await waiting;
    running.controller.abort();
    await full.close();
  });
});
