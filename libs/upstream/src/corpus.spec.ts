import { FakeClock, ScriptedUpstream } from '@weir/testing';
import { GatewayError, systemClock, systemTimers } from '@weir/kernel';
import { AnswerIntake } from './answer-intake.js';
import type { ProfileId } from './profiles/profile.js';
import { profileOf } from './profiles/profiles.js';
import type { StreamReading, UpstreamAnswer, UpstreamRequest } from './stream-client.js';
import {
  acceptedClasses,
  CORPUS,
  profileFor,
  visibleText,
  type CorpusCase,
  type Judgement,
} from './testing/corpus.js';
import { UndiciStreamClient } from './undici-stream-client.js';

const TIMEOUTS = { connectMs: 5000, headersMs: 5000, firstFrameMs: 5000, idleMs: 5000, totalMs: 20_000 };

function request(entry: CorpusCase, account = 'main'): UpstreamRequest {
  return {
    identity: {
      requestId: entry.id,
      team: 't',
      model: 'm',
      operation: 'chat',
      template: 'none',
      priority: 'normal',
    },
    target: { account, model: 'm' },
    attempt: 1,
    path: '/chat/completions',
    body: Buffer.from('{}'),
    stream: entry.kind === 'sse',
    usageInjected: false,
  };
}

function usageOf(reading: StreamReading): Judgement['usage'] {
  const { usage } = reading;
  if (!usage) return null;
  return {
    prompt_tokens: usage.inputTokens ?? NaN,
    completion_tokens: usage.outputTokens ?? NaN,
    total_tokens: usage.totalTokens ?? NaN,
  };
}

/** No definite end was seen: cut, or a page that is no answer at all. */
function isTruncated(failure: GatewayError | undefined): boolean {
  return (
    failure?.code === 'stream_truncated' || (failure?.failure === 'fatal' && failure.upstreamStatus === 200)
  );
}

/** Reads an answer to its end, as the gateway would. */
async function judge(opening: Promise<UpstreamAnswer>): Promise<Judgement> {
  const parts: Uint8Array[] = [];
  let answer: UpstreamAnswer | undefined;
  let failure: GatewayError | undefined;
  try {
    answer = await opening;
    for await (const frame of answer.frames) parts.push(frame.bytes);
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    failure = thrown;
  }
  return {
    class: failure?.failure ?? 'ok',
    retryable: failure?.retryable ?? false,
    waitMs: failure?.hintMs ?? null,
    terminal: !isTruncated(failure),
    text: answer ? visibleText(Buffer.concat(parts)) : null,
    usage: answer ? usageOf(answer.reading) : null,
  };
}

function expectAgreement(entry: CorpusCase, got: Judgement): void {
  const accepted = acceptedClasses(entry);
  expect(accepted).toContain(got.class);
  const { retryable, waitMs, text, usage } = entry.expect;
  if (got.class === entry.expect.class)
    expect({ retryable: got.retryable, waitMs: got.waitMs }).toEqual({ retryable, waitMs });
  expect(got.terminal).toBe(entry.expect.terminal);
  expect(got.text).toBe(text);
  expect(got.usage).toEqual(usage);
}

/** The classifier and the decoders alone, fed in pieces of the given size. */
function feed(entry: CorpusCase, profile: ProfileId, size: number): Promise<Judgement> {
  const clock = new FakeClock();
  const intake = new AnswerIntake({
    request: request(entry),
    profile: profileOf(profile),
    timeouts: TIMEOUTS,
    clock,
    timers: clock,
    signal: new AbortController().signal,
  });
  intake.connected({ pause: () => undefined, resume: () => undefined, abort: () => undefined });
  intake.responded(entry.status, entry.headers);
  const body = Buffer.from(entry.body);
  for (let at = 0; at < body.length; at += size) intake.received(Buffer.from(body.subarray(at, at + size)));
  intake.ended();
  expect(clock.armed).toBe(0);
  return judge(intake.answer);
}

test('the corpus is complete', () => {
  expect(CORPUS).toHaveLength(156);
});

describe.each(['own profile', 'generic profile'])('%s', (which) => {
  const profile = (entry: CorpusCase): ProfileId =>
    which === 'generic profile' ? 'generic' : profileFor(entry.provider);

  test.each(CORPUS.map((entry) => [entry.id, entry] as const))('%s, whole', async (_id, entry) => {
    expectAgreement(entry, await feed(entry, profile(entry), Infinity));
  });

  test.each(CORPUS.map((entry) => [entry.id, entry] as const))('%s, byte by byte', async (_id, entry) => {
    expectAgreement(entry, await feed(entry, profile(entry), 1));
  });
});

describe('through the real client', () => {
  let upstream: ScriptedUpstream;
  let client: UndiciStreamClient;

  beforeAll(async () => {
    upstream = await ScriptedUpstream.start();
    const accounts = [...new Set(CORPUS.map((entry) => profileFor(entry.provider)))].map((profile) => ({
      id: profile,
      baseUrl: upstream.baseUrl,
      apiKey: 'key',
      profile,
      connections: 1,
    }));
    client = new UndiciStreamClient(accounts, TIMEOUTS, systemClock, systemTimers);
  });

  afterAll(async () => {
    await client.close();
    await upstream.stop();
  });

  test.each(CORPUS.map((entry) => [entry.id, entry] as const))('%s, whole', async (_id, entry) => {
    upstream.script({
      status: entry.status,
      headers: entry.headers,
      chunks: entry.body === '' ? [] : [entry.body],
    });
    const opening = client.open(request(entry, profileFor(entry.provider)), new AbortController().signal);
    expectAgreement(entry, await judge(opening));
  });

  const streams = CORPUS.filter((entry) => entry.kind === 'sse');
  test.each(streams.map((entry) => [entry.id, entry] as const))('%s, byte by byte', async (_id, entry) => {
    const bytes = [...Buffer.from(entry.body)].map((byte) => Uint8Array.of(byte));
    upstream.script({ status: entry.status, headers: entry.headers, chunks: bytes });
    const opening = client.open(request(entry, profileFor(entry.provider)), new AbortController().signal);
    expectAgreement(entry, await judge(opening));
  });
});
