import { readChatRequest } from '@weir/protocol';
import { promptCharacters } from './prompt-size.js';

function size(body: object): number {
  return promptCharacters(readChatRequest(Buffer.from(JSON.stringify({ model: 'm', ...body }))));
}

describe('promptCharacters', () => {
  it('counts text, in messages and in parts', () => {
    expect(
      size({
        messages: [
          { role: 'system', content: 'abc' },
          { role: 'user', content: 'défg' },
        ],
      }),
    ).toBe(7);
    const parts = [
      { type: 'text', text: 'abc' },
      { type: 'text', text: 'de' },
    ];
    expect(size({ messages: [{ role: 'user', content: parts }] })).toBe(5);
  });

  it('does not take a picture in base64 for text', () => {
    const picture = {
      type: 'image_url',
      image_url: { url: `data:image/png;base64,${'A'.repeat(1_000_000)}` },
    };
    const counted = size({ messages: [{ role: 'user', content: [picture] }] });
    expect(counted).toBeGreaterThan(0);
    expect(counted).toBeLessThan(10_000);
  });

  it('counts tools and tool calls, and survives odd content', () => {
    const messages = [
      { role: 'assistant', content: null, tool_calls: [{ id: '1' }] },
      { role: 'user', content: [null, 3] },
    ];
    const plain = size({ messages });
    expect(plain).toBe('[{"id":"1"}]'.length);
    expect(size({ messages, tools: [{ type: 'function' }] })).toBe(plain + '[{"type":"function"}]'.length);
  });

  it.each(['tools', 'response_format'])(
    'refuses %s of a hundred thousand levels, and says which',
    (field) => {
      const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
      const body = `{"model":"m","messages":[{"role":"user","content":"x"}],"${field}":${field === 'tools' ? deep : `{"a":${deep}}`}}`;
      expect(() => promptCharacters(readChatRequest(Buffer.from(body)))).toThrow(
        expect.objectContaining({ code: 'invalid_request', param: field }) as Error,
      );
    },
  );
});
