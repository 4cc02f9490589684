import { DEFAULT_BEHAVIOUR } from '../provider/behaviour.js';
import { ChatRequest, countPrompt } from './chat-request.js';
import { utter, type Utterance } from './utterance.js';

const weather = {
  type: 'function',
  function: {
    name: 'weather',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer' }, unit: { enum: ['C', 'F'] } },
    },
  },
};

function ask(fields: object, behaviour: object = {}, turn = 1): Utterance {
  const request = ChatRequest.parse({
    model: 'm',
    messages: [{ role: 'user', content: 'hello' }],
    ...fields,
  });
  return utter(request, { ...DEFAULT_BEHAVIOUR, ...behaviour }, turn);
}

function text(utterance: Utterance): string {
  return [...utterance.pieces()].join('');
}

describe('what the model says', () => {
  it('is the same for the same seed, model and messages, and another for any other', () => {
    const first = text(ask({}));
    expect(text(ask({}, {}, 2))).toBe(first);
    expect(text(ask({ temperature: 1, stream: true }))).toBe(first);
    expect(text(ask({ model: 'n' }))).not.toBe(first);
    expect(text(ask({}, { seed: 2 }))).not.toBe(first);
    expect(text(ask({ messages: [{ role: 'user', content: 'hello!' }] }))).not.toBe(first);
  });

  it('diverges where it is told to', () => {
    expect(text(ask({}, { diverge: true }, 1))).not.toBe(text(ask({}, { diverge: true }, 2)));
  });

  it('continues an assistant message at the end', () => {
    const whole = text(ask({}));
    const messages = [
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: [{ type: 'text', text: whole.slice(0, 9) }] },
    ];
    expect(text(ask({ messages }))).toBe(whole.slice(9));
  });

  it('ends with "length" only where something was left to say', () => {
    const { tokens } = ask({});
    expect(ask({ max_tokens: tokens })).toMatchObject({ tokens, finish: 'stop' });
    expect(ask({ max_tokens: tokens - 1 })).toMatchObject({ tokens: tokens - 1, finish: 'length' });
    expect(ask({ max_tokens: 9, max_completion_tokens: 2 })).toMatchObject({ tokens: 2 });
  });

  it('has as many frames of as many bytes as it is told', () => {
    const utterance = ask({}, { frames: 5, frameBytes: 1000 });
    const sizes = Array.from(utterance.pieces(), (piece) => Buffer.byteLength(piece));
    expect(sizes).toEqual([1000, 1000, 1000, 1000, 1000]);
    expect(utterance.tokens).toBe(5);
  });

  it('calls the tool that is asked for, with arguments of its schema', () => {
    const named = ask({ tools: [weather], tool_choice: { type: 'function', function: { name: 'weather' } } });
    expect(named).toMatchObject({ tool: { name: 'weather' }, finish: 'tool_calls' });
    expect(JSON.parse(text(named))).toEqual({
      city: expect.any(String) as string,
      days: expect.any(Number) as number,
      unit: expect.stringMatching(/^[CF]$/) as string,
    });
    expect(ask({ tools: [weather], tool_choice: 'required' }).tool?.name).toBe('weather');
    expect(ask({ tools: [weather], tool_choice: 'none' }).tool).toBeUndefined();
  });

  it('decides by the question whether to call a tool, and answers after its result', () => {
    const tools = [weather];
    const chosen = Array.from(
      { length: 20 },
      (_, n) => ask({ tools, messages: [{ role: 'user', content: `question ${n}` }] }).tool === undefined,
    );
    expect(new Set(chosen).size).toBe(2);
    const messages = [{ role: 'tool', tool_call_id: 'c', content: 'sunny' }];
    for (let seed = 0; seed < 10; seed++) expect(ask({ tools, messages }, { seed }).tool).toBeUndefined();
  });
});

describe('the count of a prompt', () => {
  it('is bytes by four, 3 a message, 3 for the answer, 85 for media, and the tools as JSON', () => {
    const count = (messages: unknown[], tools?: unknown): number =>
      countPrompt(ChatRequest.parse({ model: 'm', messages, tools }));
    expect(count([{ role: 'user', content: '12345678' }])).toBe(3 + 3 + 2);
    expect(count([{ role: 'user', content: 'é'.repeat(5) }])).toBe(3 + 3 + 3);
    expect(count([{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }])).toBe(
      3 + 3 + 85,
    );
    const declared = Math.ceil(JSON.stringify([weather]).length / 4);
    expect(count([{ role: 'assistant', content: null }], [weather])).toBe(3 + 3 + declared);
  });
});
