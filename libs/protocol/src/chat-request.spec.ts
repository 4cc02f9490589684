import fc from 'fast-check';
import { readChatRequest } from './chat-request.js';
import { rewriteRequest } from './rewrite-request.js';
import { FUZZ, gatewayErrorOf } from './testing/pieces.js';

const read = (json: object): ReturnType<typeof readChatRequest> =>
  readChatRequest(Buffer.from(JSON.stringify(json)));
const MESSAGES = [{ role: 'user', content: 'hi' }];

describe('readChatRequest', () => {
  it('reads what the gateway needs', () => {
    expect(read({ model: 'm', messages: MESSAGES })).toMatchObject({
      model: 'm',
      stream: false,
      maxTokens: undefined,
      choices: 1,
      includeUsage: false,
      messages: MESSAGES,
    });
    expect(
      read({
        model: 'm',
        messages: MESSAGES,
        stream: true,
        max_tokens: 1,
        max_completion_tokens: 500,
        n: 2,
        stream_options: { include_usage: true },
      }),
    ).toMatchObject({ stream: true, maxTokens: 500, choices: 2, includeUsage: true });
  });

  it('takes null for "not given", as OpenAI does', () => {
    const json = {
      model: 'm',
      messages: MESSAGES,
      stream: null,
      max_tokens: null,
      n: null,
      stream_options: null,
    };
    expect(read(json)).toMatchObject({ stream: false, maxTokens: undefined, choices: 1 });
  });

  it.each<[object, string]>([
    [{ messages: MESSAGES }, 'model'],
    [{ model: '', messages: MESSAGES }, 'model'],
    [{ model: 5, messages: MESSAGES }, 'model'],
    [{ model: 'm' }, 'messages'],
    [{ model: 'm', messages: [] }, 'messages'],
    [{ model: 'm', messages: 'hi' }, 'messages'],
    [{ model: 'm', messages: [...MESSAGES, 'hi'] }, 'messages[1]'],
    [{ model: 'm', messages: MESSAGES, stream: 'yes' }, 'stream'],
    [{ model: 'm', messages: MESSAGES, max_tokens: -1 }, 'max_tokens'],
    [{ model: 'm', messages: MESSAGES, max_tokens: 0 }, 'max_tokens'],
    [{ model: 'm', messages: MESSAGES, max_tokens: 1.5 }, 'max_tokens'],
    [{ model: 'm', messages: MESSAGES, max_tokens: '9' }, 'max_tokens'],
    [{ model: 'm', messages: MESSAGES, max_completion_tokens: 1e300 }, 'max_completion_tokens'],
    [{ model: 'm', messages: MESSAGES, n: 0 }, 'n'],
    [{ model: 'm', messages: MESSAGES, n: 1000 }, 'n'],
    [{ model: 'm', messages: MESSAGES, stream_options: [] }, 'stream_options'],
    [
      { model: 'm', messages: MESSAGES, stream_options: { include_usage: 1 } },
      'stream_options.include_usage',
    ],
  ])('%j: says that %s must change', (json, param) => {
    const thrown = gatewayErrorOf(() => read(json));
    expect(thrown).toMatchObject({ code: 'invalid_request', status: 400, param });
    expect(thrown.message).toContain(param.replace(/\[.*|\..*/, ''));
  });

  it.each<[string, readonly unknown[]]>([
    ['tools', ['x', {}, 1]],
    ['tool_choice', [1, [], true]],
    ['response_format', ['json', [], 1]],
    ['stop', [1, {}, false]],
    ['temperature', ['0.5', [], true]],
    ['top_p', ['1', {}]],
    ['presence_penalty', ['1', {}]],
    ['frequency_penalty', ['1', {}]],
    ['seed', ['1', 1.5, {}]],
    ['user', [1, {}]],
  ])('refuses a wrong type of %s, and says what fits', (field, values) => {
    for (const value of values) {
      const thrown = gatewayErrorOf(() => read({ model: 'm', messages: MESSAGES, [field]: value }));
      expect(thrown).toMatchObject({ code: 'invalid_request', status: 400, param: field });
      expect(thrown.message).toMatch(new RegExp(`^\`${field}\` must be (a|an) .*, or be left out\\.$`));
    }
  });

  it.each<[unknown, string]>([
    [{ content: 'x' }, 'messages[0].role'],
    [{ role: null, content: 'x' }, 'messages[0].role'],
    [{ role: 5, content: 'x' }, 'messages[0].role'],
    [{ role: 'user', content: 5 }, 'messages[0].content'],
    [{ role: 'user', content: {} }, 'messages[0].content'],
    [{ role: 'user', content: false }, 'messages[0].content'],
  ])('refuses the message %j: %s', (message, param) => {
    const thrown = gatewayErrorOf(() => read({ model: 'm', messages: [message] }));
    expect(thrown).toMatchObject({ code: 'invalid_request', status: 400, param });
    expect(thrown.message).toContain(param);
  });

  it('judges types only: null, odd values and unknown fields are for the provider to judge', () => {
    const fields = [
      'tools',
      'tool_choice',
      'response_format',
      'stop',
      'temperature',
      'top_p',
      'seed',
      'user',
    ];
    const nulls = Object.fromEntries(fields.map((field) => [field, null]));
    const odd = {
      temperature: 99,
      top_p: -1,
      seed: -7,
      stop: [1],
      tools: [],
      tool_choice: {},
      unknown: [{}],
    };
    const messages = [
      { role: 'alien', content: 'x' },
      { role: 'assistant', content: null },
      { role: 'assistant' },
      { role: 'user', content: [] },
    ];
    for (const json of [nulls, odd]) {
      const whole = { model: 'm', messages, ...json };
      expect(read(whole).json).toEqual(whole);
    }
  });

  it.each(['', '{', 'null', '[]', '"x"', '{"model":"m",}', '\ufeff{}', Buffer.from([0x22, 0xff, 0x22])])(
    'refuses %j',
    (body) => {
      expect(gatewayErrorOf(() => readChatRequest(Buffer.from(body))).code).toBe('invalid_request');
    },
  );

  it('never quotes the body in its message', () => {
    const thrown = gatewayErrorOf(() => read({ model: 'm', messages: 'my secret' }));
    expect(thrown.message).not.toContain('secret');
  });
});

function rewrite(body: string, changes: Parameters<typeof rewriteRequest>[1]): string {
  return Buffer.from(rewriteRequest(Buffer.from(body), changes)).toString('utf8');
}

describe('rewriteRequest', () => {
  const USAGE = { includeUsage: true };
  it.each([
    ['{"model":"a"}', '{"model":"b"}'],
    [
      ' {\n "x" : 1e2 , "model" :\t"a"  ,"seed":7228414683750928123 }\n',
      ' {\n "x" : 1e2 , "model" :\t"b"  ,"seed":7228414683750928123 }\n',
    ],
    ['{"mod\\u0065l":"a"}', '{"mod\\u0065l":"b"}'],
    ['{"model":"a","model":"c"}', '{"model":"b","model":"b"}'],
    [
      '{"messages":[{"model":"x","content":"\\"model\\":\\"y\\""}],"model":"a"}',
      '{"messages":[{"model":"x","content":"\\"model\\":\\"y\\""}],"model":"b"}',
    ],
    ['{"a":"\\\\","model":"\\\\\\""}', '{"a":"\\\\","model":"b"}'],
    ['{"a":[],"b":{},"c":[{"d":"}]"}],"model":"a"}', '{"a":[],"b":{},"c":[{"d":"}]"}],"model":"b"}'],
    ['{"emoji 🦀":"🦀","model":"🦀"}', '{"emoji 🦀":"🦀","model":"b"}'],
  ])('changes the model in %s', (before, after) => {
    expect(rewrite(before, { model: 'b' })).toBe(after);
  });

  it('escapes the new model', () => {
    expect(rewrite('{"model":"a"}', { model: 'q"\\' })).toBe('{"model":"q\\"\\\\"}');
  });

  it.each([
    ['{"model":"a"}', '{"stream_options":{"include_usage":true},"model":"a"}'],
    [' { "model":"a"}', ' {"stream_options":{"include_usage":true}, "model":"a"}'],
    ['{"stream_options":null,"x":1}', '{"stream_options":{"include_usage":true},"x":1}'],
    ['{"stream_options":{}}', '{"stream_options":{"include_usage":true}}'],
    ['{"stream_options": { "a" : 1 } }', '{"stream_options": {"include_usage":true, "a" : 1 } }'],
    ['{"stream_options":{"include_usage":false,"a":1}}', '{"stream_options":{"include_usage":true,"a":1}}'],
    ['{"stream_options":{"include_usage":null}}', '{"stream_options":{"include_usage":true}}'],
    ['{"x":{"stream_options":1}}', '{"stream_options":{"include_usage":true},"x":{"stream_options":1}}'],
  ])('asks for usage in %s', (before, after) => {
    expect(rewrite(before, USAGE)).toBe(after);
  });

  it('touches nothing where nothing changes', () => {
    const body = Buffer.from('{"model":"a"}');
    expect(rewriteRequest(body, {})).toBe(body);
  });

  it('changes exactly what it says, in any JSON', () => {
    const value = fc.jsonValue({ maxDepth: 3 });
    const object = fc.dictionary(
      fc.oneof(fc.string(), fc.constantFrom('model', 'stream_options', 'x')),
      value,
    );
    fc.assert(
      fc.property(object, fc.constantFrom(undefined, 1, '\t'), fc.string(), (json, indent, model) => {
        const before = { ...json, model: 'old', stream_options: { keep: 1 } };
        const after = rewrite(JSON.stringify(before, null, indent), { model, includeUsage: true });
        expect(JSON.parse(after)).toEqual(
          // Through JSON once, as -0 and own __proto__ keys do not survive it.
          JSON.parse(JSON.stringify({ ...before, model, stream_options: { keep: 1, include_usage: true } })),
        );
      }),
      FUZZ,
    );
  });
});
