import fc from 'fast-check';
import { rewriteRequest } from './rewrite-request.js';
import { FUZZ } from './testing/pieces.js';

function continued(body: string, text = 'so "far"', tokens = 3): string {
  return Buffer.from(rewriteRequest(Buffer.from(body), { continuation: { text, tokens } })).toString();
}

describe('a request for the rest of an answer', () => {
  it('gets the text so far as an assistant message, and every other byte stays', () => {
    expect(continued('{ "messages" : [ {"role":"user","content":"é ]"} ] , "seed":1.0}')).toBe(
      '{ "messages" : [ {"role":"user","content":"é ]"} ,{"role":"assistant","content":"so \\"far\\""}] , "seed":1.0}',
    );
  });

  it('lets a message grow that the caller had begun', () => {
    expect(
      continued('{"messages":[{"role":"user","content":"x"},{"content":"on\\u0065 ","role":"assistant"}]}'),
    ).toBe(
      '{"messages":[{"role":"user","content":"x"},{"content":"on\\u0065 so \\"far\\"","role":"assistant"}]}',
    );
    expect(continued('{"messages":[{"role":"assistant","content":[{"type":"text","text":"a"}]}]}', 'b')).toBe(
      '{"messages":[{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]}',
    );
  });

  it('has so much less to say', () => {
    expect(
      continued('{"max_tokens":10,"max_completion_tokens":null,"messages":[{"role":"user"}]}', 'a'),
    ).toBe(
      '{"max_tokens":7,"max_completion_tokens":null,"messages":[{"role":"user"},{"role":"assistant","content":"a"}]}',
    );
  });

  it('says exactly what was said, whatever it was', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.option(fc.string({ unit: 'binary' })), (text, begun) => {
        const messages = [
          { role: 'user', content: '"]}' },
          ...(begun === null ? [] : [{ role: 'assistant', content: begun }]),
        ];
        const body: unknown = JSON.parse(continued(JSON.stringify({ messages, n: [1] }), text));
        const last = { role: 'assistant', content: `${begun ?? ''}${text}` };
        expect(body).toEqual({ messages: [messages[0], last], n: [1] });
      }),
      FUZZ,
    );
  });
});
