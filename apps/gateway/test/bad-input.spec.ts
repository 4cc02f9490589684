import { errorIn, open, RawCaller, rawPost, send, type Reply } from './harness/http-caller.js';
import { House, MODEL, OTHER_TEAM_KEY, question, TEAM_KEY } from './harness/house.js';

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

interface Refused {
  readonly status: number;
  readonly code: string;
  readonly param?: string | null;
  readonly says: RegExp;
}

function expectRefused(reply: Reply, { status, code, param, says }: Refused): void {
  expect(reply.status).toBe(status);
  expect(reply.headers['content-type']).toBe('application/json');
  expect(reply.headers).toMatchObject({
    'x-weir-origin': 'gateway',
    'x-weir-reason': code,
    'x-should-retry': 'false',
  });
  const error = errorIn(reply.text);
  expect(Object.keys(error).sort()).toEqual(['code', 'message', 'param', 'type']);
  expect(error.code).toBe(code);
  if (param !== undefined) expect(error.param).toBe(param);
  expect(error.message).toMatch(says);
}

const bad = (says: RegExp, param: string | null = null): Refused => ({
  status: 400,
  code: 'invalid_request',
  param,
  says,
});
const notJson = bad(/not valid JSON.*Send a JSON object/);
const nested = (open: string, close: string): string => open.repeat(100_000) + close.repeat(100_000);

describe('a body that is refused', () => {
  const messages = [{ role: 'user', content: 'x' }];
  it.each<readonly [string, string | Uint8Array, Refused]>([
    ['nothing', '', notJson],
    ['broken JSON', '{"model": ', notJson],
    ['JSON and something after it', `${JSON.stringify(question())}x`, notJson],
    ['a byte that is not UTF-8', Buffer.from(`{"model":"${MODEL}","messages":"\u00ff"}`, 'latin1'), notJson],
    ['a byte order mark', `\ufeff${JSON.stringify(question())}`, notJson],
    ['null bytes', '\0\0\0', notJson],
    ['100,000 brackets that nobody closes', '['.repeat(100_000), notJson],
    ['100,000 lists in each other', nested('[', ']'), bad(/must be a JSON object/)],
    [
      '100,000 objects in each other',
      `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`,
      bad(/`model`/, 'model'),
    ],
    ['a list', '[]', bad(/must be a JSON object/)],
    ['null', 'null', bad(/must be a JSON object/)],
    ['a text', '"x"', bad(/must be a JSON object/)],
    ['no model', JSON.stringify({ messages }), bad(/`model` must be a string/, 'model')],
    [
      'a model that is a number',
      JSON.stringify({ model: 1, messages }),
      bad(/`model` must be a string/, 'model'),
    ],
    ['no messages', JSON.stringify({ model: MODEL }), bad(/`messages` must be a list/, 'messages')],
    [
      'messages that are text',
      JSON.stringify({ model: MODEL, messages: 'x' }),
      bad(/`messages` must be a list/, 'messages'),
    ],
    [
      'no message in messages',
      JSON.stringify({ model: MODEL, messages: [] }),
      bad(/at least one/, 'messages'),
    ],
    [
      'a message that is text',
      JSON.stringify({ model: MODEL, messages: ['x'] }),
      bad(/messages\[0\] must be an object/, 'messages[0]'),
    ],
    [
      'negative max_tokens',
      JSON.stringify(question({ max_tokens: -1 })),
      bad(/`max_tokens` must be a whole number of at least 1/, 'max_tokens'),
    ],
    [
      'max_tokens that are not whole',
      JSON.stringify(question({ max_tokens: 1.5 })),
      bad(/whole number/, 'max_tokens'),
    ],
    [
      'max_tokens beyond all numbers',
      JSON.stringify(question({ max_tokens: 1 })).replace(':1}', ':1e400}'),
      bad(/whole number/, 'max_tokens'),
    ],
    [
      'max_completion_tokens as text',
      JSON.stringify(question({ max_completion_tokens: '5' })),
      bad(/whole number/, 'max_completion_tokens'),
    ],
    ['129 choices', JSON.stringify(question({ n: 129 })), bad(/from 1 to 128/, 'n')],
    [
      'stream as text',
      JSON.stringify(question({ stream: 'yes' })),
      bad(/`stream` must be true or false/, 'stream'),
    ],
    [
      'stream_options as a list',
      JSON.stringify(question({ stream_options: [] })),
      bad(/`stream_options` must be an object/, 'stream_options'),
    ],
    [
      'include_usage as a number',
      JSON.stringify(question({ stream_options: { include_usage: 1 } })),
      bad(/include_usage` must be true or false/, 'stream_options.include_usage'),
    ],
    [
      'a model nobody has',
      JSON.stringify(question({ model: 'gpt-9' })),
      { status: 404, code: 'model_not_found', param: 'model', says: /"gpt-9"/ },
    ],
    [
      'a model named after a prototype',
      JSON.stringify(question({ model: '__proto__' })),
      { status: 404, code: 'model_not_found', says: /__proto__/ },
    ],
    [
      'a model named constructor',
      JSON.stringify(question({ model: 'constructor' })),
      { status: 404, code: 'model_not_found', says: /constructor/ },
    ],
    [
      'a model name of a megabyte',
      JSON.stringify(question({ model: 'm'.repeat(1_000_000) })),
      { status: 404, code: 'model_not_found', says: /^.{1,300}$/ },
    ],
    [
      'a prototype instead of a model',
      `{"__proto__":{"model":"${MODEL}"},"messages":[{"role":"user"}]}`,
      bad(/`model`/, 'model'),
    ],
  ])('%s', async (_name, body, refused) => {
    expectRefused(await house.chat(body), refused);
  });

  it('20 MB, before it was read', async () => {
    const refused = { status: 413, code: 'body_too_large', says: /bodyLimitBytes.*Send less/ };
    expectRefused(await house.chat(Buffer.alloc(20_000_000, 0x20)), refused);
  });

  it('20 MB without a length', async () => {
    const caller = await RawCaller.connect(house.url);
    const head = [
      'transfer-encoding: chunked',
      `authorization: Bearer ${TEAM_KEY}`,
      'content-type: application/json',
    ];
    caller.write(rawPost('/v1/chat/completions', head, ''));
    const piece = ' '.repeat(1_000_000);
    for (let sent = 0; sent < 20 && !caller.text.includes('413'); sent += 1) {
      caller.write(`${piece.length.toString(16)}\r\n${piece}\r\n`);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await caller.until('body_too_large')).toMatch(/^HTTP\/1\.1 413 /);
    caller.close();
  });
});

describe('headers that are refused', () => {
  it.each<readonly [string, Record<string, string>, Refused]>([
    ['no key', { authorization: '' }, { status: 401, code: 'unauthorized', says: /Bearer <team key>/ }],
    [
      'a key of nobody',
      { authorization: 'Bearer x' },
      { status: 401, code: 'unauthorized', says: /not known/ },
    ],
    [
      'a key without a scheme',
      { authorization: TEAM_KEY },
      { status: 401, code: 'unauthorized', says: /must read "Bearer/ },
    ],
    [
      'two keys',
      { authorization: `Bearer ${TEAM_KEY}, Bearer ${OTHER_TEAM_KEY}` },
      { status: 401, code: 'unauthorized', says: /Bearer/ },
    ],
    [
      'a conversation of blanks',
      { 'x-conversation-id': 'a b' },
      bad(/x-conversation-id must be/, 'x-conversation-id'),
    ],
    [
      'a conversation that is too long',
      { 'x-conversation-id': 'x'.repeat(300) },
      bad(/1 to 256/, 'x-conversation-id'),
    ],
    [
      'a template with a slash',
      { 'x-prompt-template': 'a/b' },
      bad(/x-prompt-template must be/, 'x-prompt-template'),
    ],
    [
      'a priority nobody knows',
      { 'x-weir-priority': 'urgent' },
      bad(/high, normal or low/, 'x-weir-priority'),
    ],
    [
      'a wait that is negative',
      { 'x-weir-max-wait-ms': '-1' },
      bad(/whole number of milliseconds/, 'x-weir-max-wait-ms'),
    ],
    [
      'a wait that is no number',
      { 'x-weir-max-wait-ms': 'soon' },
      bad(/whole number of milliseconds/, 'x-weir-max-wait-ms'),
    ],
  ])('%s', async (_name, headers, refused) => {
    expectRefused(await house.chat(question(), headers), refused);
  });

  it('a header that was sent twice', async () => {
    const reply = await send(house.chatUrl, {
      headers: { authorization: `Bearer ${TEAM_KEY}`, 'x-weir-priority': ['high', 'low'] },
      body: JSON.stringify(question()),
    });
    expectRefused(reply, bad(/x-weir-priority/, 'x-weir-priority'));
  });

  it('no key, and no word of a key is told', async () => {
    const reply = await send(house.chatUrl, { body: JSON.stringify(question()) });
    expectRefused(reply, { status: 401, code: 'unauthorized', says: /No API key/ });
    expect(reply.text).not.toContain(TEAM_KEY);
  });
});

describe('content types', () => {
  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=utf-16', 'a/b'])(
    '%j makes no difference: the body is bytes',
    async (type) => {
      const reply = await house.chat('{"model":', { 'content-type': type });
      expectRefused(reply, notJson);
    },
  );

  it.each(['nonsense', ''])('%j is refused', async (type) => {
    const reply = await house.chat(question(), { 'content-type': type });
    expectRefused(reply, { status: 415, code: 'invalid_request', says: /content-type.*application\/json/ });
  });

  it('a compressed body is no JSON', async () => {
    const reply = await house.chat(Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0]), {
      'content-encoding': 'gzip',
    });
    expectRefused(reply, notJson);
  });

  it('a reply to a caller that cannot wait for it is still complete', async () => {
    const incoming = await open(house.chatUrl, { body: '{}', headers: { authorization: 'x' } });
    incoming.resume();
    await new Promise((resolve) => incoming.once('end', resolve));
    expect(incoming.complete).toBe(true);
  });
});
