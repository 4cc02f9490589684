import { ScriptedUpstream } from '@weir/testing';
import { House, MODEL, OTHER_MODEL } from './harness/house.js';

const SSE = { 'content-type': 'text/event-stream' };
const JSON_TYPE = { 'content-type': 'application/json' };

let upstream: ScriptedUpstream;
let house: House;

beforeAll(async () => {
  upstream = await ScriptedUpstream.start();
  house = await House.start({ baseUrl: upstream.baseUrl, account: { profile: 'openai' } });
});
afterAll(async () => {
  await house.close();
  await upstream.stop();
});

const PLAIN_ANSWER =
  '{ "id":"c-1",\r\n\t"object":"chat.completion","big":123456789012345678901234567890,"tiny":1E-400,"unknown":{"a":[1.50,-0]},' +
  '"choices":[{"index":0,"message":{"role":"assistant","content":"h\\u00e9 \\ud83d\\ude00 日本"},"finish_reason":"stop"}],' +
  '"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5},"usage_extra":null,"id":"c-2"}\n ';

describe('a plain request', () => {
  it('reaches the provider as it was written, but for the model', async () => {
    upstream.script({ headers: JSON_TYPE, chunks: [PLAIN_ANSWER] });
    const body =
      `\r\n{ "seed" : 123456789012345678901234567890, "temperature":1.0e0,"x-unknown":{"deep":[{"a":1.00},null,"\\u0000"]},\t` +
      `"model" : "${MODEL}" , "messages":[{"role":"user","content":"日本 \\u00e9 \\ud83d\\ude00 \\"model\\":\\"x\\"","model":"inner"}],` +
      `"__proto__":{"a":1},"constructor":"c","dup":1,"dup":2}\n`;
    const reply = await house.chat(body);
    expect(reply.status).toBe(200);
    expect(upstream.calls.at(-1)?.body).toBe(body);
    expect(upstream.calls.at(-1)?.path).toBe('/v1/chat/completions');
  });

  it('has its answer byte for byte, with every field that nobody knows', async () => {
    upstream.script({ headers: JSON_TYPE, chunks: [PLAIN_ANSWER.slice(0, 41), PLAIN_ANSWER.slice(41)] });
    const reply = await house.chat({ model: MODEL, messages: [{ role: 'user', content: 'x' }] });
    expect(reply.text).toBe(PLAIN_ANSWER);
    expect(reply.headers['content-length']).toBe(String(Buffer.byteLength(PLAIN_ANSWER)));
    expect(reply.headers['content-type']).toBe('application/json');
  });

  it('names the provider\u2019s model where the route has another name', async () => {
    const routed = await House.start({
      baseUrl: upstream.baseUrl,
      account: { models: { 'vendor/real-1': {} } },
    });
    upstream.script({ headers: JSON_TYPE, chunks: [PLAIN_ANSWER] });
    await routed.chat(
      '{"n":1,"model":"vendor/real-1","messages":[{"content":"x","role":"user"}],"mod\\u0065l":"vendor/real-1"}',
    );
    expect(upstream.calls.at(-1)?.body).toBe(
      '{"n":1,"model":"vendor/real-1","messages":[{"content":"x","role":"user"}],"mod\\u0065l":"vendor/real-1"}',
    );
    await routed.close();
  });
});

/** Everything that the event stream format allows and somebody sends. */
const ODD_STREAM = [
  ': hello\r\n\r\n',
  'retry: 3000\n\n',
  `id: 7\nevent: message\ndata: {"id":"c","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""}}],"big":12345678901234567890}\n\n`,
  'data:{"choices":[{"index":0,"delta":{"content":"no blank \\u00e9"}}],"x":1.0}\r\n\r\n',
  'data: {"choices":[{"index":0,\ndata: "delta":{"content":"two lines 日本😀"}}]}\n\n',
  'event: ping\ndata: {"type":"ping"}\n\n',
  'unknown: field\ndata: {"choices":[{"index":0,"delta":{"content":"cr only"}}]}\r\r',
  'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
];
const USAGE =
  'data: {"id":"c","choices":[],"usage":{"prompt_tokens":9007199254740993,"completion_tokens":2,"total_tokens":9007199254740995}}\n\n';
const DONE = ': bye\ndata: [DONE]\n\n';

describe('a stream', () => {
  const stream = `{"messages":[{"role":"user","content":"x"}],"model":"${MODEL}","stream":true}`;

  it.each([1, 7, 64, 100_000])('comes as it was sent, in reads of %i bytes', async (size) => {
    const sent = Buffer.from(ODD_STREAM.join('') + DONE);
    upstream.script({ headers: SSE, chunks: pieces(sent, size) });
    const reply = await house.chat(stream);
    expect(reply.body.equals(sent)).toBe(true);
    expect(reply.headers['content-type']).toBe('text/event-stream');
  });

  it('asks for usage where the caller did not, and takes the chunk out again', async () => {
    upstream.script({ headers: SSE, chunks: [...ODD_STREAM, USAGE, DONE] });
    const reply = await house.chat(stream);
    expect(upstream.calls.at(-1)?.body).toBe(`{"stream_options":{"include_usage":true},${stream.slice(1)}`);
    expect(reply.text).toBe(ODD_STREAM.join('') + DONE);
  });

  it('adds to stream_options that are there, and changes nothing else in them', async () => {
    upstream.script({ headers: SSE, chunks: [...ODD_STREAM, USAGE, DONE] });
    const written = `{"stream":true,"stream_options":{ "other":1.0 },"model":"${OTHER_MODEL}","messages":[{"role":"user","content":"x"}]}`;
    const reply = await house.chat(written);
    expect(upstream.calls.at(-1)?.body).toBe(written.replace('{ "other"', '{"include_usage":true, "other"'));
    expect(reply.text).not.toContain('usage');
  });

  it('keeps the usage chunk of a caller who asked for it', async () => {
    upstream.script({ headers: SSE, chunks: [...ODD_STREAM, USAGE, DONE] });
    const written = `{"stream":true,"model":"${MODEL}","stream_options":{"include_usage":true},"messages":[{"role":"user","content":"x"}]}`;
    const reply = await house.chat(written);
    expect(upstream.calls.at(-1)?.body).toBe(written);
    expect(reply.text).toBe(ODD_STREAM.join('') + USAGE + DONE);
  });
});

describe('what never leaves', () => {
  it('the caller\u2019s key, trace, cookies and everything else it says about itself', async () => {
    upstream.script({ headers: JSON_TYPE, chunks: [PLAIN_ANSWER] });
    await house.chat(
      { model: MODEL, messages: [{ role: 'user', content: 'x' }] },
      {
        traceparent: '00-11111111111111111111111111111111-2222222222222222-01',
        tracestate: 'vendor=1',
        baggage: 'team=search',
        cookie: 'session=1',
        'x-conversation-id': 'c-1',
        'x-forwarded-for': '10.0.0.1',
        'openai-organization': 'org',
        'x-api-key': 'mine',
        'proxy-authorization': 'Basic x',
      },
    );
    const headers = upstream.calls.at(-1)?.headers ?? {};
    expect(headers.authorization).toBe('Bearer sim-key');
    expect(Object.keys(headers).sort()).toEqual(
      [
        'accept',
        'accept-encoding',
        'authorization',
        'connection',
        'content-length',
        'content-type',
        'host',
        'user-agent',
      ].sort(),
    );
    expect(JSON.stringify(upstream.calls.at(-1))).not.toMatch(/team-key|11111111|session|search/);
  });

  it('the provider\u2019s cookies and hop-by-hop headers', async () => {
    upstream.script({
      headers: {
        ...JSON_TYPE,
        'set-cookie': 'a=1',
        server: 'nginx',
        'openai-organization': 'org-secret',
        'openai-processing-ms': '5',
      },
      chunks: [PLAIN_ANSWER],
    });
    const { headers } = await house.chat({ model: MODEL, messages: [{ role: 'user', content: 'x' }] });
    expect(headers['openai-processing-ms']).toBe('5');
    for (const name of ['set-cookie', 'server', 'openai-organization']) expect(headers[name]).toBeUndefined();
  });
});

function pieces(bytes: Buffer, size: number): readonly Buffer[] {
  const count = Math.ceil(bytes.length / size);
  return Array.from({ length: count }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
}
