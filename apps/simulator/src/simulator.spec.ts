import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import OpenAI from 'openai';
import { startSimulator, type RunningSimulator } from './simulator.module.js';

interface Line {
  received: number;
  admitted: number;
  completed: number;
  aborted: number;
  rejected: Record<string, number>;
  tokens: { prompt: number; completion: number };
}

let simulator: RunningSimulator;

beforeAll(async () => {
  simulator = await startSimulator({ port: 0 });
});
beforeEach(() => control('POST', 'reset'));
afterAll(() => simulator.close());

function control(method: string, path: string, body?: object): Promise<Response> {
  const init = { method, headers: { 'content-type': 'application/json' } };
  return fetch(`${simulator.url}/_sim/${path}`, body ? { ...init, body: JSON.stringify(body) } : init);
}

function chat(fields: object = {}, signal?: AbortSignal): Promise<Response> {
  return fetch(`${simulator.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer k', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }], ...fields }),
    ...(signal && { signal }),
  });
}

async function ledger(): Promise<Line> {
  const view = (await (await control('GET', 'ledger')).json()) as {
    keys: Record<string, { total: Line; models: Record<string, Line> }>;
  };
  const { total, models } = view.keys['k']!;
  for (const { received, admitted, rejected } of [total, ...Object.values(models)]) {
    expect(received).toBe(admitted + Object.values(rejected).reduce((sum, count) => sum + count, 0));
  }
  return total;
}

/** The ledger once nothing runs any more. */
async function settledLedger(): Promise<Line> {
  for (let tries = 0; tries < 500; tries++) {
    const line = await ledger();
    if (line.admitted === line.completed + line.aborted) return line;
    await wait(10);
  }
  throw new Error('a call never ended');
}

function framesOf(body: string): string[] {
  return body.split('\n\n').slice(0, -1);
}

function contentOf(frames: readonly string[]): string {
  const chunks = frames.flatMap((frame) => /^data: (\{.*)$/m.exec(frame)?.[1] ?? []);
  return chunks
    .map(
      (chunk) =>
        (JSON.parse(chunk) as { choices: { delta: { content?: string } }[] }).choices[0]?.delta.content ?? '',
    )
    .join('');
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('answers', () => {
  it('stream what they say plainly, and tell its hash in both ways', async () => {
    const plain = await chat();
    const { choices, usage } = (await plain.json()) as {
      choices: { message: { content: string } }[];
      usage: { prompt_tokens: number; completion_tokens: number };
    };
    const text = choices[0]!.message.content;
    expect(plain.headers.get('x-sim-text-sha256')).toBe(sha256(text));
    const frames = framesOf(await (await chat({ stream: true })).text());
    expect(contentOf(frames)).toBe(text);
    expect(frames.at(-1)).toBe(`: x-sim-text-sha256 ${sha256(text)}\ndata: [DONE]`);
    const { prompt_tokens: prompt, completion_tokens: completion } = usage;
    expect(await settledLedger()).toMatchObject({
      received: 2,
      completed: 2,
      tokens: { prompt: 2 * prompt, completion: 2 * completion },
    });
  });

  it('tell to the millisecond when they were asked for, plain and streamed', async () => {
    for (const stream of [false, true]) {
      const from = Date.now();
      const answer = await chat({ stream });
      await answer.text();
      const receivedAt = Number(answer.headers.get('x-sim-received-at'));
      expect(receivedAt).toBeGreaterThanOrEqual(from);
      expect(receivedAt).toBeLessThanOrEqual(Date.now());
    }
  });

  it('satisfy the openai client, plain, streamed, with usage, tools and embeddings', async () => {
    const client = new OpenAI({ baseURL: `${simulator.url}/v1`, apiKey: 'k', maxRetries: 0 });
    const messages = [{ role: 'user' as const, content: 'hello' }];
    const plain = await client.chat.completions.create({ model: 'm', messages });
    const stream = await client.chat.completions.create({
      model: 'm',
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    let usage;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      usage = chunk.usage ?? usage;
    }
    expect(text).toBe(plain.choices[0]?.message.content);
    expect(usage).toEqual(plain.usage);

    const tools = [{ type: 'function' as const, function: { name: 'look', parameters: { type: 'object' } } }];
    const runner = client.chat.completions.stream({ model: 'm', messages, tools, tool_choice: 'required' });
    const call = (await runner.finalChatCompletion()).choices[0]?.message.tool_calls?.[0];
    expect(call).toMatchObject({ type: 'function', function: { name: 'look', arguments: '{}' } });

    const { data } = await client.embeddings.create({ model: 'e', input: ['one', 'two'] });
    expect(data.map(({ embedding }) => embedding.length)).toEqual([16, 16]);
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual(expect.arrayContaining(['m', 'e']));
    expect(await client.models.retrieve('m')).toMatchObject({ id: 'm' });
  });

  it('take the time that the behaviour says', async () => {
    await control('PUT', 'behaviour', { firstTokenMs: 80, tokensPerSecond: 100, frames: 11 });
    for (const stream of [false, true]) {
      const start = performance.now();
      await (await chat({ stream })).text();
      expect(performance.now() - start).toBeGreaterThanOrEqual(175);
    }
  });

  it('refuse what is malformed in OpenAI’s shape', async () => {
    const bad = await chat({ messages: 'hello' });
    expect(bad.status).toBe(400);
    expect(await bad.json()).toMatchObject({ error: { type: 'invalid_request_error', param: 'messages' } });
    expect((await chat({ max_tokens: -1 })).status).toBe(400);
    expect((await chat({ stream_options: { include_usage: true } })).status).toBe(400);
    expect(await ledger()).toMatchObject({ received: 3, admitted: 0, rejected: { fault: 3 } });
    const anonymous = await fetch(`${simulator.url}/v1/models`);
    expect([anonymous.status, await anonymous.json()]).toMatchObject([
      401,
      { error: { code: 'invalid_api_key' } },
    ]);
  });
});

describe('quotas', () => {
  it('refuse with the profile’s headers, and admit after the hint', async () => {
    await control('PUT', 'quota', { key: 'k', requestsPerMinute: 2, windowSeconds: 0.3 });
    const statuses = [(await chat()).status, (await chat()).status];
    const refused = await chat();
    expect([...statuses, refused.status]).toEqual([200, 200, 429]);
    expect(refused.headers.get('x-ratelimit-remaining-requests')).toBe('0');
    expect(await refused.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
    await wait(Number(refused.headers.get('retry-after-ms')) + 1);
    expect((await chat()).status).toBe(200);
    expect(await ledger()).toMatchObject({ received: 4, rejected: { requests: 1 } });
  });

  it('hold a slot to the last byte', async () => {
    await control('PUT', 'quota', { concurrency: 1 });
    await control('PUT', 'behaviour', { frames: 20, tokensPerSecond: 100 });
    const stream = await chat({ stream: true });
    expect((await chat()).status).toBe(429);
    await stream.text();
    expect((await chat()).status).toBe(200);
  });
});

describe('faults', () => {
  const script = (...faults: object[]): Promise<Response> => control('POST', 'faults', { faults });

  it('come in order, as often as they say, for whom they are meant', async () => {
    await script(
      { times: 2, status: 429, headers: { 'Retry-After-Ms': 200 } },
      { times: 1, model: 'other', status: 503, html: true },
      { times: 1, key: 'k', body: { error: { message: 'no', code: 429 } } },
    );
    const answers = [await chat(), await chat(), await chat(), await chat()];
    expect(answers.map(({ status }) => status)).toEqual([429, 429, 200, 200]);
    expect(answers[0]!.headers.get('retry-after-ms')).toBe('200');
    expect(await answers[2]!.json()).toEqual({ error: { message: 'no', code: 429 } });
    const page = await chat({ model: 'other' });
    expect([page.status, page.headers.get('content-type')]).toEqual([503, 'text/html; charset=utf-8']);
    expect(await ledger()).toMatchObject({ received: 5, admitted: 1, rejected: { fault: 4 } });
  });

  it('are not used up by calls that a quota refuses, unless they speak for the model', async () => {
    await control('PUT', 'quota', { requestsPerMinute: 0 });
    await script({ times: 1, cutAtByte: 3 }, { times: 1, status: 500 });
    expect((await chat()).status).toBe(429);
    expect(await (await control('GET', 'faults')).json()).toMatchObject({
      faults: [{ times: 1 }, { times: 1 }],
    });
    await control('DELETE', 'faults');
    await script({ times: 1, status: 500 });
    expect((await chat()).status).toBe(500);
  });

  it('break a stream off with an error at a frame', async () => {
    const error = { error: { message: 'busy', code: 429 } };
    await script({ times: 1, errorAtFrame: { frame: 3, body: error } });
    await script({ times: 1, errorAtFrame: { frame: 1, body: 'event: error\ndata: {}' } });
    const frames = framesOf(await (await chat({ stream: true })).text());
    expect(frames).toHaveLength(3);
    expect(frames.at(-1)).toBe(`data: ${JSON.stringify(error)}`);
    expect(await (await chat({ stream: true })).text()).toBe('event: error\ndata: {}\n\n');
    await script({ times: 1, errorAtFrame: { frame: 3, body: error } });
    expect(await (await chat()).json()).toEqual(error);
    expect(await settledLedger()).toMatchObject({ admitted: 3, aborted: 3, completed: 0 });
  });

  it.each([true, false])('cut a body at a byte (stream: %s)', async (stream) => {
    await script({ times: 1, cutAtByte: 25 }, { times: 1, cutAtByte: 0 });
    for (const length of [25, 0]) {
      let seen = 0;
      const response = await chat({ stream });
      const reading = response.body!.pipeTo(
        new WritableStream<Uint8Array>({
          write: (part) => {
            seen += part.length;
          },
        }),
      );
      await expect(reading).rejects.toThrow();
      expect(seen).toBe(length);
    }
    expect(await settledLedger()).toMatchObject({ admitted: 2, aborted: 2 });
  });

  it('reset the connection after the headers', async () => {
    await script({ times: 1, resetAfterHeaders: true });
    const response = await chat({ stream: true });
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
    expect(await settledLedger()).toMatchObject({ admitted: 1, aborted: 1 });
  });

  it.each([true, false])('stall and drip, and the answer is whole (stream: %s)', async (stream) => {
    await script({ times: 1, stallAtFrame: { frame: 2, ms: 120 } }, { times: 1, dripBytesPerSecond: 10_000 });
    const whole = stream ? contentOf(framesOf(await (await chat({ stream, n: 1 })).text())) : undefined;
    if (!stream) await (await chat()).text();
    const start = performance.now();
    const dripped = await (await chat({ stream })).text();
    expect(performance.now() - start).toBeGreaterThanOrEqual(
      (Buffer.byteLength(dripped) / 10_000) * 1000 * 0.9,
    );
    if (whole !== undefined) expect(contentOf(framesOf(dripped))).toBe(whole);
    expect(await settledLedger()).toMatchObject({ completed: 2 });
  });
});

describe('callers that leave', () => {
  it('are noticed at once, wherever they are, and every call ends', async () => {
    await control('PUT', 'behaviour', { firstTokenMs: 50, tokensPerSecond: 50, frames: 1000 });
    const calls = Array.from({ length: 40 }, async (_, index) => {
      const leave = new AbortController();
      const call = chat({ stream: index % 2 === 0 }, leave.signal).then((response) => response.text());
      await wait(5 * index);
      leave.abort();
      await call.catch(() => undefined);
    });
    await Promise.all(calls);
    const line = await settledLedger();
    expect(line.completed).toBe(0);
    expect(line.aborted).toBe(line.admitted);
  });

  it('stop a stream that they do not read: it is written no further, and whole once they read on', async () => {
    await control('PUT', 'behaviour', { frames: 256, frameBytes: 65_536 });
    await control('PUT', 'quota', { tokensPerMinute: null, charges: 'produced' });
    const socket = connect(Number(new URL(simulator.url).port), '127.0.0.1');
    const body = JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'x' }] });
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer k\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    socket.pause();
    await wait(300);
    expect(await ledger()).toMatchObject({ admitted: 1, completed: 0, aborted: 0 });
    let bytes = 0;
    for await (const part of socket) bytes += (part as Buffer).length;
    expect(bytes).toBeGreaterThan(256 * 65_536);
    expect(await settledLedger()).toMatchObject({ completed: 1 });
  });
});

describe('the control API', () => {
  it.each([
    ['PUT', 'quota', { requestsPerMinut: 3 }, 'requestsPerMinut'],
    ['PUT', 'quota', { concurrency: -1 }, 'concurrency'],
    ['PUT', 'quota', { shape: 'round' }, 'shape'],
    ['PUT', 'behaviour', { profile: 'nobody' }, 'profile'],
    ['POST', 'faults', { faults: [{ times: 1 }, { times: 0 }] }, 'faults[1].times'],
    ['POST', 'faults', {}, 'faults'],
  ])('%s %s %j names the field', async (method, path, body, param) => {
    const response = await control(method, path, body);
    expect([response.status, await response.json()]).toMatchObject([400, { version: 1, error: { param } }]);
  });

  it('takes every shape, in both spellings', async () => {
    const shapes = [
      'sliding',
      'fixed',
      { fixed: 2 },
      { bucket: 8 },
      { quantum: 1 },
      'bucket(8)',
      'quantum(1)',
    ];
    for (const shape of shapes) expect((await control('PUT', 'quota', { shape })).status).toBe(200);
    expect(await (await control('GET', 'quota')).json()).toMatchObject({
      version: 1,
      default: { shape: { quantum: 1 } },
    });
  });

  it('keeps what a change of behaviour does not name', async () => {
    await control('PUT', 'behaviour', { seed: 7, frames: 3 });
    await control('PUT', 'behaviour', { frames: null, usage: 'none' });
    const behaviour = (await (await control('GET', 'behaviour')).json()) as object;
    expect(behaviour).toMatchObject({ version: 1, seed: 7, usage: 'none' });
    expect(behaviour).not.toHaveProperty('frames');
    expect(await (await chat()).json()).not.toHaveProperty('usage');
  });
});

it('closes within a second while streams are open', async () => {
  const other = await startSimulator({ port: 0 });
  await fetch(`${other.url}/_sim/behaviour`, {
    method: 'PUT',
    body: JSON.stringify({ firstTokenMs: 60_000 }),
  });
  const open = fetch(`${other.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer k' },
    body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'x' }] }),
  }).then((response) => response.text());
  const cut = expect(open).rejects.toThrow();
  await wait(50);
  const start = performance.now();
  await other.close();
  await cut;
  expect(performance.now() - start).toBeLessThan(1000);
});
