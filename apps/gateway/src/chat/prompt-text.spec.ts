import { readChatRequest, readEmbeddingRequest } from '@weir/protocol';
import fc from 'fast-check';
import { promptCharacters } from './prompt-size.js';
import { chatText, embeddingText, frameTokens } from './prompt-text.js';

const bytesOf = (body: object): Buffer => Buffer.from(JSON.stringify({ model: 'm', ...body }));
const chatOf = (body: object) => readChatRequest(bytesOf(body));

const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };

describe('chatText', () => {
  it('takes texts and names one by one, and what stands around them by the message', () => {
    const messages = [
      { role: 'system', content: 'be short' },
      {
        role: 'user',
        name: 'ann',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
    ];
    expect(chatText(chatOf({ messages }))).toEqual({
      texts: ['be short', 'ann', 'a', 'b'],
      besideText: 2 * 4 + 3 + 1,
      isWhole: true,
    });
  });

  it('does not claim to know what a provider makes of pictures, tools and calls of them', () => {
    const messages = [{ role: 'user', content: [picture] }];
    expect(chatText(chatOf({ messages }))).toMatchObject({ texts: [], isWhole: false });
    expect(chatText(chatOf({ messages })).besideText).toBeGreaterThan(500);
    const [text, calls] = [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: null, tool_calls: [{}] },
    ];
    expect(chatText(chatOf({ messages: [text, calls] }))).toMatchObject({
      texts: ['x', '[{}]'],
      isWhole: false,
    });
    expect(chatText(chatOf({ messages: [text], tools: [] }))).toMatchObject({
      texts: ['x', '[]'],
      isWhole: false,
    });
  });

  it('takes exactly the text that the estimate measures', () => {
    const content = fc.oneof(
      fc.string(),
      fc.constant(null),
      fc.array(fc.oneof(fc.record({ type: fc.constant('text'), text: fc.string() }), fc.constant(null))),
    );
    const message = fc.record(
      { role: fc.constant('user'), content, tool_calls: fc.array(fc.jsonValue()) },
      { requiredKeys: ['role'] },
    );
    const body = fc.record(
      { messages: fc.array(message, { minLength: 1 }), tools: fc.array(fc.jsonValue()) },
      { requiredKeys: ['messages'] },
    );
    fc.assert(
      fc.property(body, (json) => {
        const request = chatOf(json);
        const { texts, besideText } = chatText(request);
        expect(texts.join('')).toHaveLength(promptCharacters(request));
        expect(besideText).toBe(frameTokens(request));
      }),
      { numRuns: 500, seed: 20 },
    );
  });
});

describe('embeddingText', () => {
  it('leaves what is tokenized already', () => {
    const read = (input: unknown) => embeddingText(readEmbeddingRequest(bytesOf({ input })));
    expect(read(['a', 'b'])).toEqual({ texts: ['a', 'b'], besideText: 0, isWhole: true });
    expect(read([[1, 2], [3]])).toEqual({ texts: [], besideText: 3, isWhole: true });
  });
});
