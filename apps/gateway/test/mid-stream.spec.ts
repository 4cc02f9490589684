import { createHash } from 'node:crypto';
import { ScriptedUpstream } from '@weir/testing';
import { OpenAI } from 'openai';
import { contentOf, dataOf, simHashOf } from './harness/chunks.js';
import { House, MODEL, OTHER_MODEL, question, TEAM_KEY } from './harness/house.js';
import { idOf, linksOf } from './harness/span-log.js';

const SERVER = 'POST /v1/chat/completions';
const STREAM = question({ stream: true, stream_options: { include_usage: true } });
const REST = { ...STREAM, model: OTHER_MODEL };
/** A window of its own, so that a 429 is over when its hint is. */
const ROOMY = { requestsPerMinute: 10_000 };
const TOOLS = [
  {
    type: 'function',
    function: {
      name: 'find',
      parameters: { type: 'object', properties: { where: { type: 'string' } }, required: ['where'] },
    },
  },
];

let house: House;

beforeAll(async () => {
  house = await House.start({
    retry: { budgetRatio: 1 },
    breaker: { minAttempts: 10_000 },
    account: {
      models: {
        [MODEL]: { midStream: 'splice', limits: ROOMY },
        [OTHER_MODEL]: { midStream: 'continue', limits: ROOMY },
      },
      limits: { tokensPerMinute: 1_000_000, concurrency: 1 },
      windowSeconds: 0.2,
    },
  });
});
afterAll(() => house.close());
beforeEach(() => house.sim.behaviour({ frames: 40 }));
afterEach(async () => {
  expect(await house.quiet()).toMatchObject({ limiter: { open: 0 } });
  await house.sim.reset();
  house.spans.clear();
});

interface Chunk {
  readonly id: string;
  readonly created: number;
  readonly choices: readonly { readonly delta: object; readonly finish_reason: string | null }[];
  readonly usage?: Record<string, number>;
}

function chunksOf(text: string): readonly Chunk[] {
  return dataOf(text)
    .filter((data) => data.startsWith('{'))
    .map((data) => JSON.parse(data) as Chunk);
}

/** One role, one finish, one `[DONE]`, one identity, whatever came from which attempt. */
function expectOneStream(text: string): void {
  const chunks = chunksOf(text);
  expect(new Set(chunks.map(({ id, created }) => `${id} ${created}`)).size).toBe(1);
  const choices = chunks.flatMap((chunk) => chunk.choices);
  expect(choices.filter(({ delta }) => 'role' in delta)).toHaveLength(1);
  expect(choices.filter((choice) => choice.finish_reason !== null)).toHaveLength(1);
  expect(dataOf(text).filter((data) => data === '[DONE]')).toHaveLength(1);
  expect(dataOf(text).at(-1)).toBe('[DONE]');
  expect(text).not.toContain('event: error');
}

function expectBroken(text: string): void {
  expect(text).toContain('event: error');
  expect(text).not.toContain('[DONE]');
}

/** What the model says when nothing goes wrong. */
async function whole(body: object): Promise<string> {
  const { text } = await house.chat(body);
  await house.quiet();
  await house.sim.reset();
  await house.sim.behaviour({ frames: 40 });
  house.spans.clear();
  return contentOf(text);
}

describe('splice', () => {
  it('asks the whole again and goes on exactly where the first answer broke', async () => {
    const expected = await whole(STREAM);
    await house.sim.faults({ times: 1, cutAtByte: 3000 });
    const { text } = await house.chat(STREAM);
    expectOneStream(text);
    expect(contentOf(text)).toBe(expected);
    expect(createHash('sha256').update(expected).digest('hex')).toBe(simHashOf(text));
    expect(text).toMatch(/^: x-weir-attempts: 2$/m);
    expect(await house.sim.total()).toMatchObject({ received: 2, admitted: 2, completed: 1, aborted: 1 });
  });

  it('goes on within frames of many words', async () => {
    await house.sim.behaviour({ frameBytes: 12 });
    const expected = await whole(STREAM);
    await house.sim.behaviour({ frameBytes: 12 });
    await house.sim.faults({ times: 1, cutAtByte: 3000 });
    const { text } = await house.chat(STREAM);
    expect(contentOf(text)).toBe(expected);
  });

  it('makes good one break after another, within retry.maxAttempts', async () => {
    const expected = await whole(STREAM);
    await house.sim.faults(
      { times: 1, cutAtByte: 2000 },
      { times: 1, errorAtFrame: { frame: 20, body: { error: { message: 'overloaded', code: 503 } } } },
      { times: 1, cutAtByte: 7000 },
    );
    const { text } = await house.chat(STREAM);
    expectOneStream(text);
    expect(contentOf(text)).toBe(expected);
    expect(await house.sim.total()).toMatchObject({ received: 4, completed: 1, aborted: 3 });
  });

  it('ends with the break where attempts run out', async () => {
    await house.sim.faults({ times: 9, cutAtByte: 3000 });
    const { text } = await house.chat(STREAM);
    expectBroken(text);
    expect(text).toContain('stream_truncated');
    expect(await house.sim.total()).toMatchObject({ received: 4, aborted: 4 });
  });

  it('waits, pays and is traced as any retry, and links to the attempt that broke', async () => {
    await house.sim.faults({ times: 1, cutAtByte: 3000 });
    await house.chat(STREAM);
    await house.spans.until(SERVER, 1);
    const [first, second] = house.spans.named(`chat ${MODEL}`);
    expect(first?.attributes).toMatchObject({ 'weir.attempt.number': 1, 'weir.attempt.outcome': 'error' });
    expect(first?.attributes['weir.resume.number']).toBeUndefined();
    expect(second?.attributes).toMatchObject({
      'weir.attempt.number': 2,
      'weir.attempt.outcome': 'ok',
      'weir.resume.number': 1,
      'weir.resume.result': 'joined',
    });
    expect(second?.attributes['weir.resume.from_chunk']).toBeGreaterThan(0);
    expect(linksOf(second)).toEqual([idOf(first)]);
    expect(house.spans.named('weir.queue.wait')).toHaveLength(2);
    const [retry] = house.spans.named('weir.retry');
    expect(retry?.attributes).toMatchObject({
      'weir.retry.reason': 'transient',
      'weir.retry.result': 'scheduled',
    });
    const metrics = await house.metrics();
    const resumes = `weir_stream_resumes_total{gen_ai_request_model="${MODEL}",weir_resume_result="joined"}`;
    expect(metrics.get(resumes)).toBeGreaterThanOrEqual(1);
  });

  it('ends with an error in the stream, and no more calls, where the second answer is another one', async () => {
    await house.sim.behaviour({ diverge: true });
    await house.sim.faults({ times: 1, cutAtByte: 3000 });
    const { text } = await house.chat(STREAM);
    expectBroken(text);
    expect(text).toContain('gave another answer');
    expect(await house.sim.total()).toMatchObject({ received: 2 });
    await house.spans.until(SERVER, 1);
    expect(house.spans.named(`chat ${MODEL}`)[1]?.attributes['weir.resume.result']).toBe('diverged');
  });

  it('lets a 429 between the two wait, and then goes on', async () => {
    const expected = await whole(STREAM);
    await house.sim.faults(
      { times: 1, cutAtByte: 3000 },
      { times: 1, status: 429, headers: { 'retry-after-ms': '150' } },
    );
    const { text } = await house.chat(STREAM);
    expectOneStream(text);
    expect(contentOf(text)).toBe(expected);
  });
});

describe('continue', () => {
  it('asks for the rest, and sums what both attempts were charged', async () => {
    const expected = await whole(REST);
    await house.sim.faults({ times: 1, cutAtByte: 3000 });
    const { text } = await house.chat(REST);
    expectOneStream(text);
    expect(contentOf(text)).toBe(expected);
    const usage = chunksOf(text).at(-1)?.usage ?? {};
    const { tokens } = await house.sim.total();
    expect(usage['prompt_tokens']).toBeGreaterThan(tokens.prompt);
    expect(usage['completion_tokens']).toBeGreaterThanOrEqual(40);
    expect(usage['total_tokens']).toBe((usage['prompt_tokens'] ?? 0) + (usage['completion_tokens'] ?? 0));
    expect(tokens.completion).toBeLessThan(40);
    await house.spans.until(SERVER, 1);
    expect(house.spans.named(SERVER)[0]?.attributes['weir.tokens.used']).toBe(usage['total_tokens']);
  });

  it('leaves the second attempt only what the caller\u2019s limit still allows', async () => {
    const limited = { ...REST, max_tokens: 30 };
    const expected = await whole(limited);
    await house.sim.faults({ times: 1, cutAtByte: 3000 });
    const { text } = await house.chat(limited);
    expectOneStream(text);
    expect(contentOf(text)).toBe(expected);
    expect(text).toContain('"finish_reason":"length"');
  });

  it('goes on with an answer that the caller itself had begun', async () => {
    const begun = {
      ...REST,
      messages: [
        { role: 'user', content: 'hello' },
        { role: 'assistant', content: (await whole(REST)).slice(0, 20) },
      ],
    };
    const expected = await whole(begun);
    await house.sim.faults({ times: 1, cutAtByte: 3000 });
    const { text } = await house.chat(begun);
    expectOneStream(text);
    expect(contentOf(text)).toBe(expected);
  });
});

describe.each([MODEL, OTHER_MODEL])('what can be neither repeated nor continued (%s)', (model) => {
  it.each([
    ['half a tool call', { tools: TOOLS, tool_choice: 'required' }],
    ['one of several choices', { n: 2 }],
  ])('%s ends with an error in the stream', async (_, changes) => {
    await house.sim.faults({ times: 1, cutAtByte: 900 });
    const { text } = await house.chat(question({ model, stream: true, ...changes }));
    expectBroken(text);
    expect(await house.sim.total()).toMatchObject({ received: 1 });
  });
});

describe('a caller who leaves while its answer is asked again', () => {
  it('leaves no permit, no timer and no call behind', async () => {
    await house.sim.faults({ times: 1, cutAtByte: 3000 }, { times: 1, stallAtFrame: { frame: 3, ms: 5000 } });
    const gone = new AbortController();
    const incoming = await house.openChat(STREAM, {}, gone.signal);
    incoming.on('error', () => undefined);
    incoming.resume();
    await house.spans.until('weir.retry', 1);
    while ((await house.sim.total()).received < 2) await new Promise((resolve) => setTimeout(resolve, 10));
    gone.abort();
    await house.quiet();
    expect((await house.sim.total()).aborted).toBe(2);
    expect(house.time.armed).toBe(0);
  });
});

describe('the bytes of a joined stream', () => {
  const SSE = { 'content-type': 'text/event-stream' };
  const event = (id: string, choice: string): string =>
    `data: {"id":"${id}","created":${id === 'a' ? 1 : 2},"x":1.0,"choices":[${choice}]}\n\n`;
  const said = (id: string, content: string): string =>
    event(id, `{"index":0,"delta":{"content":"${content}"},"finish_reason":null}`);
  const role = (id: string): string => event(id, '{"index":0,"delta":{"role":"assistant"}}');
  const finish = (id: string): string => event(id, '{"index":0,"delta":{},"finish_reason":"stop"}');
  const DONE = ': bye\ndata: [DONE]\n\n';
  let upstream: ScriptedUpstream;
  let scripted: House;

  beforeAll(async () => {
    upstream = await ScriptedUpstream.start();
    scripted = await House.start({
      baseUrl: upstream.baseUrl,
      account: { models: { [MODEL]: { midStream: 'splice' }, [OTHER_MODEL]: { midStream: 'continue' } } },
    });
  });
  afterAll(async () => {
    await scripted.close();
    await upstream.stop();
  });

  /** What the caller got, without what the gateway told in a comment. */
  async function joined(model: string, first: readonly string[], second: readonly string[]): Promise<string> {
    upstream.script({ headers: SSE, chunks: first, end: 'cut' }, { headers: SSE, chunks: second });
    const { text } = await scripted.chat(question({ model, stream: true }));
    return text.replace(/(^: x-.*\n)+\n/m, '');
  }

  it('are those of the first answer, then of the second from the cut on', async () => {
    const first = [role('a'), said('a', 'Hé'), said('a', 'llo')];
    const second = [role('b'), ': ping\n\n', said('b', 'H\\u00e9l'), said('b', 'lo, you'), finish('b'), DONE];
    expect(await joined(MODEL, first, second)).toBe(
      [...first, said('a', ', you'), finish('a'), DONE]
        .join('')
        .replaceAll('"id":"b","created":2', '"id":"a","created":1'),
    );
    expect(upstream.calls.at(-1)?.body).toBe(upstream.calls.at(-2)?.body);
  });

  it('are those of the rest, where it was asked for', async () => {
    const first = [role('a'), said('a', 'Hé'), said('a', 'llo')];
    const second = [role('b'), said('b', ', you'), finish('b'), DONE];
    expect(await joined(OTHER_MODEL, first, second)).toBe(
      [...first, said('a', ', you'), finish('a'), DONE].join(''),
    );
    expect(JSON.parse(upstream.calls.at(-1)?.body ?? '')).toMatchObject({
      messages: [
        { role: 'user', content: 'hello' },
        { role: 'assistant', content: 'Héllo' },
      ],
    });
  });
});

describe('the openai client', () => {
  it.each([MODEL, OTHER_MODEL])('sees nothing but one answer (%s)', async (model) => {
    const client = new OpenAI({ baseURL: `${house.url}/v1`, apiKey: TEAM_KEY, maxRetries: 0 });
    const expected = await whole({ ...STREAM, model });
    await house.sim.faults({ times: 1, cutAtByte: 3000 });
    const messages = [{ role: 'user' as const, content: 'hello' }];
    const completion = await client.chat.completions.stream({ model, messages }).finalChatCompletion();
    expect(completion.choices[0]?.message.content).toBe(expected);
    expect(completion.choices[0]?.finish_reason).toBe('stop');
  });
});
