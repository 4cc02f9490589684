import type { GatewayError } from '@weir/kernel';
import type { Frame } from './stream-client.js';
import { IntakeHarness } from './testing/intake-harness.js';

/** What became of a success: the caller's answer, or the error. */
interface Outcome {
  readonly text: string | undefined;
  readonly failure: GatewayError | undefined;
}

async function outcomeOf(harness: IntakeHarness): Promise<Outcome> {
  harness.intake.ended();
  await harness.clock.advance(0);
  await harness.read();
  const bytes = harness.frames.map((frame: Frame) => Buffer.from(frame.bytes));
  const failure = harness.failure as GatewayError | undefined;
  return { text: failure === undefined ? Buffer.concat(bytes).toString() : undefined, failure };
}

function plain(body: string, changes: { readonly stream?: boolean } = {}): Promise<Outcome> {
  const harness = new IntakeHarness({ stream: false, ...changes });
  harness.connect();
  harness.respond(200, { 'content-type': 'application/json' });
  harness.receive(body);
  return outcomeOf(harness);
}

function stream(...events: readonly string[]): Promise<Outcome> {
  const harness = new IntakeHarness();
  harness.connect();
  harness.respond();
  harness.receive(...events);
  return outcomeOf(harness);
}

const event = (data: string): string => `data: ${data}\n\n`;
const DONE = event('[DONE]');
const TEXT = event('{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}');
const STOP = event('{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}');

const THROTTLED = { code: 'upstream_rate_limited', upstreamStatus: 429, retryable: true };
const REQUESTS = { ...THROTTLED, failure: 'rate_limit_requests' };
const TOKENS = { ...THROTTLED, failure: 'rate_limit_tokens' };
const AUTH = { code: 'upstream_auth', failure: 'auth', retryable: false };
const SPENT = { code: 'upstream_rate_limited', failure: 'quota_exhausted', retryable: false };
const REJECTED = { code: 'upstream_rejected', failure: 'invalid_request', retryable: false };
const DOWN = { code: 'upstream_unavailable', retryable: true };
const EMPTY = { code: 'upstream_protocol', failure: 'transient', retryable: true };

/** Refusals without the field `error` inside a 200. */
const REFUSALS: readonly (readonly [string, object])[] = [
  ['{"code":429,"message":"slow down"}', REQUESTS],
  ['{"code":"429","msg":"slow down","data":null}', REQUESTS],
  ['{"status":429,"title":"Too Many Requests","detail":"5 a second"}', REQUESTS],
  ['{"status_code":429,"message":"token budget per minute"}', TOKENS],
  ['{"choices":[],"code":429,"message":"slow down"}', REQUESTS],
  ['{"data":[],"code":429,"message":"slow down"}', REQUESTS],
  ['{"code":-1,"message":"rate limit"}', REQUESTS],
  ['{"detail":"Too many requests"}', REQUESTS],
  ['{"code":429,"message":"no","retry_after":3}', { ...REQUESTS, hintMs: 3000 }],
  ['{"code":401,"message":"bad key"}', { ...AUTH, upstreamStatus: 401 }],
  ['{"code":403,"message":"not yours"}', { ...AUTH, upstreamStatus: 403 }],
  ['{"code":402,"message":"pay"}', SPENT],
  ['{"code":400,"message":"bad temperature"}', { ...REJECTED, status: 400 }],
  ['{"code":500,"message":"oops"}', { ...DOWN, failure: 'transient' }],
  ['{"code":503,"message":"busy"}', { ...DOWN, failure: 'overloaded' }],
  ['{"success":false,"errors":[{"code":7003,"message":"no route"}]}', DOWN],
  ['{"detail":[{"loc":["body"],"msg":"field required"}]}', DOWN],
  ['{"error":true,"message":"went wrong"}', DOWN],
  // MiniMax and Baidu: their own numbers.
  ['{"base_resp":{"status_code":1002,"status_msg":"rate limit"}}', REQUESTS],
  [
    '{"id":"","choices":null,"usage":{"total_tokens":0},"base_resp":{"status_code":1002,"status_msg":"x"}}',
    REQUESTS,
  ],
  ['{"base_resp":{"status_code":1039,"status_msg":"token limit"}}', TOKENS],
  ['{"base_resp":{"status_code":1004,"status_msg":"login fail"}}', AUTH],
  ['{"base_resp":{"status_code":2049,"status_msg":"invalid api key"}}', AUTH],
  ['{"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}', SPENT],
  ['{"base_resp":{"status_code":2013,"status_msg":"invalid params"}}', { ...REJECTED, status: 400 }],
  ['{"base_resp":{"status_code":1013,"status_msg":"internal service error"}}', DOWN],
  ['{"error_code":18,"error_msg":"Open api qps request limit reached"}', REQUESTS],
  ['{"error_code":17,"error_msg":"Open api daily request limit reached"}', SPENT],
  ['{"error_code":19,"error_msg":"Open api total request limit reached"}', SPENT],
  ['{"error_code":110,"error_msg":"Access token invalid or no longer valid"}', AUTH],
  ['{"error_code":336000,"error_msg":"Internal error"}', DOWN],
  ['{"code":336501,"msg":"Rate limit reached for RPM"}', REQUESTS],
  ['{"code":336502,"msg":"Rate limit reached for TPM"}', TOKENS],
];

/** Answers in which nothing is. */
const NOTHING: readonly string[] = [
  '{}',
  '{"choices":[]}',
  '{"choices":null}',
  '{"data":[]}',
  '{"code":0,"message":"success"}',
  '{"code":200,"msg":"ok","data":null}',
  '{"base_resp":{"status_code":0,"status_msg":"success"}}',
  '{"id":"c","object":"chat.completion","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":0}}',
];

const CHOICES = '"choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}]';

/** Successes that look odd. */
const SUCCESSES: readonly string[] = [
  `{${CHOICES},"base_resp":{"status_code":0,"status_msg":""}}`,
  `{"code":0,"message":"success",${CHOICES}}`,
  `{"code":"success","msg":"ok",${CHOICES}}`,
  `{"status":"completed","error":null,${CHOICES}}`,
  '{"choices":[{"index":0,"message":{"role":"assistant","content":null},"finish_reason":"stop"}]}',
  '{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.1]}],"model":"e"}',
  '{"code":0,"msg":"ok","data":[{"embedding":[0.1]}]}',
  '{"type":"message","role":"assistant","content":[],"stop_reason":"end_turn","usage":{"input_tokens":1}}',
  '{"id":"c","message":{"role":"assistant","content":[{"type":"text","text":"a"}]},"finish_reason":"COMPLETE"}',
  '{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":3}}',
  '{"id":"as","object":"chat.completion","result":"text","usage":{"total_tokens":3}}',
];

describe('a plain 200', () => {
  it.each(REFUSALS)('that is a refusal: %s', async (body, expected) => {
    expect((await plain(body)).failure).toMatchObject({ origin: 'provider', committed: false, ...expected });
  });

  it.each(NOTHING)('without an answer: %s', async (body) => {
    expect((await plain(body)).failure).toMatchObject(EMPTY);
  });

  it.each(SUCCESSES)('that is a success, byte for byte: %s', async (body) => {
    expect(await plain(body)).toEqual({ text: body, failure: undefined });
  });

  it('says what the caller can change in the provider\u2019s words', async () => {
    const body = '{"code":400,"message":"temperature must be below 2"}';
    const { passThrough } = (await plain(body)).failure ?? {};
    expect(Buffer.from(passThrough?.body ?? []).toString()).toBe(body);
    expect(passThrough?.status).toBe(400);
  });

  it.each(REFUSALS)('in place of a stream: %s', async (body, expected) => {
    expect((await plain(body, { stream: true })).failure).toMatchObject(expected);
  });
});

describe('a stream', () => {
  it.each(REFUSALS)('whose first event is a refusal: %s', async (body, expected) => {
    expect((await stream(event(body), DONE)).failure).toMatchObject({ committed: false, ...expected });
    expect((await stream(': ping\n\n', event(body))).failure).toMatchObject({
      committed: false,
      ...expected,
    });
  });

  it.each(NOTHING.filter((body) => !body.includes('usage')))('in which nothing comes: %s', async (body) => {
    expect((await stream(event(body), DONE)).failure).toMatchObject(EMPTY);
  });

  it('refuses at once where the number is plain, whether the connection ends or not', async () => {
    const harness = new IntakeHarness();
    harness.connect();
    harness.respond();
    harness.receive(event('{"base_resp":{"status_code":1002,"status_msg":"rate limit"}}'));
    await harness.clock.advance(0);
    expect(harness.failure).toMatchObject(REQUESTS);
    expect(harness.transport.aborted).toBe(true);
  });

  it('breaks where a refusal comes in the middle, and is whole where it comes after the finish', async () => {
    const late = event('{"code":429,"message":"slow down"}');
    const broken = await stream(TEXT, late, DONE);
    expect(broken.failure).toMatchObject({ ...REQUESTS, retryable: false, committed: true });
    expect(await stream(TEXT, STOP, late, DONE)).toEqual({
      text: TEXT + STOP + late + DONE,
      failure: undefined,
    });
  });

  it('is broken by words alone where nothing follows them, and by nothing that an answer follows', async () => {
    const complaint = event('{"detail":"Too many requests"}');
    const role = event('{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}');
    expect((await stream(role, complaint, DONE)).failure).toMatchObject({ ...REQUESTS, committed: false });
    for (const end of ['', DONE])
      expect((await stream(TEXT, complaint, end)).failure).toMatchObject({
        committed: true,
        upstreamStatus: 429,
      });
    for (const whole of [
      [complaint, TEXT, DONE],
      [TEXT, complaint, TEXT, DONE],
      [TEXT, STOP, complaint, DONE],
    ])
      expect(await stream(...whole)).toEqual({ text: whole.join(''), failure: undefined });
  });

  it.each([
    ['filter results at its head', '{"choices":[],"prompt_filter_results":[{"prompt_index":0}]}'],
    ['a status of its own', '{"status":"in_progress","message":"queued"}'],
    ['a success that is told', '{"code":0,"message":"success"}'],
    ['nothing', '{}'],
    ['base_resp beside nothing', '{"choices":[],"base_resp":{"status_code":0,"status_msg":""}}'],
  ])('passes untouched with %s', async (_name, odd) => {
    const whole = [event(odd), TEXT, STOP, DONE];
    expect(await stream(...whole)).toEqual({ text: whole.join(''), failure: undefined });
  });

  it('is empty where it ends behind such a head', async () => {
    const head = event('{"choices":[],"prompt_filter_results":[{"prompt_index":0}]}');
    expect((await stream(head, DONE)).failure).toMatchObject(EMPTY);
  });

  it('is an answer where it says only what it cost', async () => {
    const usage = event('{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":0,"total_tokens":1}}');
    expect(await stream(usage, DONE)).toEqual({ text: usage + DONE, failure: undefined });
  });
});
