import type { Target } from '@weir/kernel';
import { readChatRequest } from '@weir/protocol';
import { attemptRequest } from './attempt-request.js';
import type { ChatCall } from './chat-call.js';

const main: Target = { account: 'main', model: 'provider/name' };

function call(body: string): ChatCall {
  return {
    identity: {
      requestId: 'r',
      team: 't',
      model: 'chat',
      operation: 'chat',
      template: 'none',
      priority: 'normal',
    },
    path: '/chat/completions',
    request: readChatRequest(Buffer.from(body)),
    characters: 1,
    targets: [main],
    fallback: [],
    cost: { inputTokens: 1, outputTokens: 1 },
    arrivedAt: 0,
    deadline: 1,
  };
}

function sent(body: string, asksForUsage = true) {
  const request = attemptRequest(call(body), main, 1, asksForUsage);
  return { body: Buffer.from(request.body).toString(), usageInjected: request.usageInjected };
}

describe('attemptRequest', () => {
  const MESSAGES = '"messages":[{"role":"user","content":"x"}]';

  it('changes the model and no other byte of a plain request', () => {
    const odd = `{ "seed": 12345678901234567890,\n "model" : "chat", "x_unknown": 1.0e2, ${MESSAGES} }`;
    expect(sent(odd)).toEqual({ body: odd.replace('"chat"', '"provider/name"'), usageInjected: false });
  });

  it('asks for usage where the caller streams, did not ask, and the provider takes it', () => {
    const body = `{"model":"chat","stream":true,${MESSAGES}}`;
    const asked = sent(body);
    expect(asked.usageInjected).toBe(true);
    expect(JSON.parse(asked.body)).toMatchObject({
      model: 'provider/name',
      stream_options: { include_usage: true },
    });
    expect(sent(body, false)).toEqual({
      body: body.replace('"chat"', '"provider/name"'),
      usageInjected: false,
    });
  });

  it('takes nothing out where the caller asked itself', () => {
    const body = `{"model":"chat","stream":true,"stream_options":{"include_usage":true},${MESSAGES}}`;
    expect(sent(body)).toEqual({ body: body.replace('"chat"', '"provider/name"'), usageInjected: false });
  });
});
