import fc from 'fast-check';
import { readFrame, rewriteFrame } from './stream-frame.js';
import { FUZZ } from './testing/pieces.js';

const frame = (json: object): Buffer => Buffer.from(`data: ${JSON.stringify(json)}\n\n`);
const delta = (delta: object, more: object = {}): object => ({
  id: 'b',
  created: 2,
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
});

describe('readFrame', () => {
  it.each([
    ['text', delta({ content: 'hé' }), { text: 'hé', onlyText: true, finished: false }],
    ['a role', delta({ role: 'assistant', content: '' }), { text: '', onlyText: true, finished: false }],
    ['a finish', delta({}, { finish_reason: 'stop' }), { text: '', onlyText: true, finished: true }],
    ['text and finish', delta({ content: 'x' }, { finish_reason: 'stop' }), { text: 'x', finished: true }],
    ['usage', { choices: [], usage: { prompt_tokens: 1 } }, { text: '', onlyText: true, finished: false }],
    ['tools', delta({ tool_calls: [{ index: 0, function: { name: 'f' } }] }), { onlyText: false }],
    ['text and tools', delta({ content: 'x', tool_calls: [{ index: 0 }] }), { onlyText: false }],
    ['reasoning', delta({ reasoning_content: 'hm' }), { onlyText: false }],
    ['parts', delta({ content: [{ type: 'text', text: 'x' }] }), { onlyText: false }],
    ['another choice', { choices: [{ index: 1, delta: { content: 'x' } }] }, { onlyText: false }],
    ['another dialect', { candidates: [{ content: { parts: [{ text: 'x' }] } }] }, { onlyText: false }],
  ])('tells %s', (_, json, expected) => {
    expect(readFrame(frame(json))).toMatchObject({ kind: 'chunk', ...expected });
  });

  it('tells what is no chunk, and what is the end', () => {
    expect(readFrame(Buffer.from(': ping\n\n'))).toEqual({ kind: 'nothing' });
    expect(readFrame(Buffer.from('data: hello\n\n'))).toEqual({ kind: 'nothing' });
    expect(readFrame(Buffer.from(': bye\ndata: [DONE]\n\n'))).toEqual({ kind: 'done' });
  });

  it('knows the stream that a chunk belongs to', () => {
    expect(readFrame(frame(delta({})))).toMatchObject({ identity: { id: 'b', created: 2 } });
  });
});

describe('rewriteFrame', () => {
  it('changes text, identity and usage, and no other byte', () => {
    const bytes = Buffer.from(
      ': c\r\nid: 7\r\ndata: { "id":"b","created" : 2, "n":1.50,"choices":[ {"delta":{"content":"ab\\u0063"},"index":0}],' +
        '"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7,"x":{"prompt_tokens":1}}}\r\n\r\n',
    );
    const changed = rewriteFrame(bytes, {
      text: 'c',
      identity: { id: 'a', created: 1 },
      usage: { inputTokens: 10, outputTokens: 20 },
    });
    expect(Buffer.from(changed).toString()).toBe(
      ': c\r\nid: 7\r\ndata: { "id":"a","created" : 1, "n":1.50,"choices":[ {"delta":{"content":"c"},"index":0}],' +
        '"usage":{"prompt_tokens":13,"completion_tokens":24,"total_tokens":37,"x":{"prompt_tokens":1}}}\r\n\r\n',
    );
  });

  it('reads JSON over several lines, and writes it on one', () => {
    const bytes = Buffer.from('event: message\ndata: {"choices":[{"delta":\ndata: {"content":"x"}}]}\n\n');
    expect(Buffer.from(rewriteFrame(bytes, { text: 'y' })).toString()).toBe(
      'event: message\ndata: {"choices":[{"delta":\ndata: {"content":"y"}}]}\n\n',
    );
  });

  it('leaves alone what is no chunk', () => {
    for (const text of [': ping\n\n', 'data: [DONE]\n\n', 'data: {half\n\n']) {
      const bytes = Buffer.from(text);
      expect(rewriteFrame(bytes, { text: 'x', identity: { id: 'a' } })).toBe(bytes);
    }
  });

  it('cuts any text anywhere, in code units', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(), (text, at) => {
        const cut = at % (text.length + 1);
        const bytes = rewriteFrame(frame(delta({ content: text })), { text: text.slice(cut) });
        expect(readFrame(bytes)).toMatchObject({ text: text.slice(cut), identity: { id: 'b' } });
      }),
      FUZZ,
    );
  });
});
