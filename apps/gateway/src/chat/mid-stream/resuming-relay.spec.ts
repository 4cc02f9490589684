import { GatewayError, type GatewayErrorDetail, type Target } from '@weir/kernel';
import { readChatRequest, readFrame } from '@weir/protocol';
import { FakeClock } from '@weir/testing';
import type { Frame } from '@weir/upstream';
import { isHead } from '../../delivery/outgoing.js';
import type { ChatCall } from '../chat-call.js';
import type { Granted } from '../granted.js';
import { MidStream } from './mid-stream.js';
import type { RelaySteps } from './relay.js';

const MAIN: Target = { account: 'main', model: 'm' };
const SPARE: Target = { account: 'spare', model: 'm' };
const SMALL: Target = { account: 'spare', model: 'small' };
const BODY = '{"model":"chat","stream":true,"max_tokens":9,"messages":[{"role":"user","content":"x"}]}';

const CALL: ChatCall = {
  identity: {
    requestId: 'r',
    team: 't',
    model: 'chat',
    operation: 'chat',
    template: 'none',
    priority: 'normal',
  },
  path: '/chat/completions',
  request: readChatRequest(Buffer.from(BODY)),
  characters: 1,
  targets: [MAIN, SPARE],
  fallback: [SMALL],
  cost: { inputTokens: 10, outputTokens: 9 },
  arrivedAt: 0,
  deadline: 1000,
};

function broken(detail: GatewayErrorDetail = {}): GatewayError {
  const usual = { origin: 'provider', failure: 'transient', committed: true, sent: true } as const;
  return new GatewayError('stream_truncated', 'cut', { ...usual, ...detail });
}

function said(content: string): Frame {
  const json = { id: 'c', choices: [{ index: 0, delta: { content }, finish_reason: null }] };
  return { bytes: Buffer.from(`data: ${JSON.stringify(json)}\n\n`), visible: true };
}

const DONE: Frame = { bytes: Buffer.from('data: [DONE]\n\n'), visible: false };

/** An attempt that says these texts, and then ends as told. */
function answer(attempt: number, texts: readonly string[], end?: Error): Granted {
  const frames = (async function* () {
    for (const text of texts) yield await Promise.resolve(said(text));
    if (end !== undefined) throw end;
    yield DONE;
  })();
  // What a relay needs of an attempt: whose it is, and its frames.
  return { permit: { target: MAIN }, answer: { frames }, attempt } as unknown as Granted;
}

/** @param attempts what comes of asking again, in order */
async function relay(
  policy: 'fail' | 'splice' | 'continue',
  first: Granted,
  attempts: readonly (Granted | Error)[],
  call = CALL,
) {
  const left = [...attempts];
  const events: string[] = [];
  const asked: ChatCall[] = [];
  const steps: RelaySteps = {
    reopen: (next, { granted }) => {
      asked.push(next);
      events.push(`again after ${granted.attempt}`);
      const opened = left.shift();
      return opened === undefined || opened instanceof Error
        ? Promise.reject(opened ?? new Error('no more attempts'))
        : Promise.resolve(opened);
    },
    head: ({ attempt }) => ({
      kind: 'head',
      status: 200,
      contentType: 'text/event-stream',
      contentLength: undefined,
      headers: { 'x-weir-attempts': String(attempt) },
      source: { bufferedBytes: 0 },
    }),
    broke: ({ attempt }, error) => events.push(`${attempt} broke: ${error.code}`),
    settle: (_call, { attempt }) => {
      events.push(`${attempt} settled`);
      return { inputTokens: 10, outputTokens: 2 };
    },
  };
  const relayed = new MidStream(() => policy, new FakeClock()).relay(call, first, steps);
  let text = '';
  const outcome = await (async () => {
    try {
      for await (const outgoing of relayed.outgoing) {
        const reading = isHead(outgoing) ? undefined : readFrame(outgoing.bytes);
        text += reading?.kind === 'chunk' ? reading.text : (reading?.kind ?? '|');
      }
      return 'whole';
    } catch (thrown) {
      if (thrown instanceof GatewayError) relayed.broke(thrown);
      return thrown;
    } finally {
      relayed.settle();
      relayed.settle();
    }
  })();
  return { text, outcome, events, asked };
}

describe('a relay', () => {
  it('settles a broken attempt before it asks again, and each attempt once', async () => {
    const second = answer(2, ['hel', 'lo ', 'you'], broken());
    const { text, outcome, events } = await relay('splice', answer(1, ['he'], broken()), [
      second,
      answer(3, ['hello you there']),
    ]);
    expect([text, outcome]).toEqual(['he|llo you| theredone', 'whole']);
    expect(events).toEqual([
      '1 broke: stream_truncated',
      '1 settled',
      'again after 1',
      '2 broke: stream_truncated',
      '2 settled',
      'again after 2',
      '3 settled',
    ]);
  });

  it('asks whoever has the same model, and tells what for', async () => {
    const { asked } = await relay('splice', answer(1, ['he', 'l'], broken()), [answer(2, ['hello'])]);
    expect(asked).toMatchObject([
      { targets: [MAIN, SPARE], fallback: [], resume: { number: 1, fromChunk: 2 } },
    ]);
    expect(asked[0]?.request).toBe(CALL.request);
  });

  it('asks for the rest, with what is left of the limit', async () => {
    const { text, asked } = await relay('continue', answer(1, ['he', 'l'], broken()), [answer(2, ['lo'])]);
    expect(text).toBe('hel|lodone');
    expect(JSON.parse(Buffer.from(asked[0]?.request.bytes ?? []).toString())).toMatchObject({
      max_tokens: 7,
      messages: [{ role: 'user' }, { role: 'assistant', content: 'hel' }],
    });
    expect(asked[0]?.cost).toEqual({ inputTokens: 12, outputTokens: 7 });
  });

  it('resumes in the middle of repeating, too', async () => {
    const first = answer(1, ['hello'], broken());
    const { text, outcome } = await relay('splice', first, [
      answer(2, ['he'], broken()),
      answer(3, ['hello!']),
    ]);
    expect([text, outcome]).toEqual(['hello||!done', 'whole']);
  });

  it('tells the break itself where nobody makes it good', async () => {
    const error = broken();
    const { outcome, events } = await relay('splice', answer(1, ['he'], error), [
      new GatewayError('wait_exceeds_deadline', 'late'),
    ]);
    expect(outcome).toBe(error);
    expect(events).toEqual(['1 broke: stream_truncated', '1 settled', 'again after 1']);
  });

  it('tells that its caller left, and a fault of our own, as they are', async () => {
    for (const thrown of [new GatewayError('client_disconnected', 'gone'), new TypeError('a bug')]) {
      expect((await relay('splice', answer(1, ['he'], broken()), [thrown])).outcome).toBe(thrown);
    }
  });

  it.each<['fail' | 'splice' | 'continue', string, GatewayError, ChatCall]>([
    ['fail', 'any break', broken(), CALL],
    ['splice', 'a refusal', broken({ failure: 'invalid_request' }), CALL],
    ['splice', 'a spent quota', broken({ failure: 'quota_exhausted' }), CALL],
    ['splice', 'the end of all time', broken({ phase: 'total' }), CALL],
    ['splice', 'a break before the first frame', broken({ committed: false }), CALL],
    ['splice', 'one of several choices', broken(), { ...CALL, request: { ...CALL.request, choices: 2 } }],
    [
      'continue',
      'a limit that is reached',
      broken(),
      { ...CALL, request: { ...CALL.request, maxTokens: 1 } },
    ],
  ])('%s: asks nobody after %s', async (policy, _, error, call) => {
    const { outcome, events } = await relay(policy, answer(1, ['he'], error), [], call);
    expect(outcome).toBe(error);
    expect(events).toEqual(['1 broke: stream_truncated', '1 settled']);
  });
});
