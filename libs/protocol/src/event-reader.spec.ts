import fc from 'fast-check';
import { EventReader, type EventReading } from './event-reader.js';
import { SseDecoder, type SseEvent } from './sse-decoder.js';
import { FUZZ } from './testing/pieces.js';

function events(input: string): readonly SseEvent[] {
  const found: SseEvent[] = [];
  const decoder = new SseDecoder();
  decoder.push(Buffer.from(input), (event) => found.push(event));
  decoder.end((event) => found.push(event));
  return found;
}

function readAll(input: string): readonly EventReading[] {
  const reader = new EventReader();
  return events(input).map((event) => reader.read(event));
}

const kinds = (input: string): readonly string[] => readAll(input).map(({ kind }) => kind);
const chunk = (fields: object): string => `data: ${JSON.stringify(fields)}\n\n`;
const delta = (value: object, more: object = {}): string =>
  chunk({ id: 'c', choices: [{ index: 0, delta: value, finish_reason: null, ...more }] });

describe('EventReader', () => {
  it.each([
    [': ping\n\n', 'nothing'],
    ['data: [DONE]\n\n', 'done'],
    ['data: [DONE] \n\n', 'done'],
    ['event: ping\ndata: {"type":"ping"}\n\n', 'nothing'],
    ['data: {"type":"ping"}\n\n', 'nothing'],
    ['data: {"choices":[{"ind\n\n', 'unreadable'],
    ['data: 17\n\n', 'nothing'],
    ['event: error\ndata: Too Many Requests\n\n', 'error'],
    ['event: error\ndata: {"code":429,"message":"slow"}\n\n', 'error'],
    ['data: {"error":{"message":"x"}}\n\n', 'error'],
    ['data: {"error":"x"}\n\n', 'error'],
    ['data: [{"error":{"code":503}}]\n\n', 'error'],
    ['data: {"object":"error","message":"x"}\n\n', 'error'],
    ['data: {"error":null,"choices":[]}\n\n', 'chunk'],
    ['data: {"choices":[{"finish_reason":"error","delta":{}}]}\n\n', 'error'],
    ['data: {"choices":[]}\n\n', 'chunk'],
    ['event: message\ndata: {"choices":[]}\n\n', 'chunk'],
  ])('%j → %s', (input, kind) => {
    expect(kinds(input)).toEqual([kind]);
  });

  it('recognises further text without decoding it', () => {
    expect(readAll(delta({ content: 'Hi' }) + delta({ content: ' there 🦀' }))[1]).toEqual({
      kind: 'text',
      visibleBytes: 11,
    });
  });

  it.each([
    ['a quote', 'say "x"', 7],
    ['a line break', 'a\nb', 3],
    ['a backslash at the end', 'a\\', 2],
    ['half a character', 'a\ud83e', 4],
  ])('recognises text with escapes: %s', (_name, content, visibleBytes) => {
    expect(readAll(delta({ content: 'a' }) + delta({ content }))[1]).toEqual({ kind: 'text', visibleBytes });
  });

  it.each<[string, string]>([
    [
      'an error behind a forged text with escapes',
      delta({ content: 'b' }).replace('"b"', '"\\n"},"error":{"x":"c"'),
    ],
    ['an escape that is none', delta({ content: 'b' }).replace('"b"', '"\\x"')],
    ['no text', delta({ content: '' })],
    ['null', delta({ content: null })],
    ['a finish', delta({ content: 'b' }, { finish_reason: 'stop' })],
    ['another choice', delta({ content: 'b' }, { index: 1 })],
    [
      'usage',
      chunk({ id: 'c', choices: [{ index: 0, delta: { content: 'b' } }], usage: { prompt_tokens: 1 } }),
    ],
    ['an error behind a forged text', delta({ content: 'b' }).replace('"b"', '"b"},"error":{"x":"c"')],
  ])('decodes after a text chunk: %s', (_name, second) => {
    expect(kinds(delta({ content: 'a' }) + second)[1]).not.toBe('text');
  });

  it('says the same with and without the short cut', () => {
    const content = fc.oneof(
      fc.string(),
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('"', '\\', '\\"', '\n'),
    );
    const finish = fc.constantFrom(null, null, null, 'stop');
    fc.assert(
      fc.property(fc.array(fc.tuple(content, finish), { minLength: 2 }), (texts) => {
        const input = texts.map(([text, end]) => delta({ content: text }, { finish_reason: end })).join('');
        const bytesOf = (reading: EventReading): unknown =>
          reading.kind === 'text'
            ? [reading.visibleBytes, undefined]
            : reading.kind === 'chunk' && [
                reading.facts.choices[0]?.visibleBytes,
                reading.facts.choices[0]?.finishReason,
              ];
        const fresh = events(input).map((event) => new EventReader().read(event));
        expect(readAll(input).map(bytesOf)).toEqual(fresh.map(bytesOf));
      }),
      FUZZ,
    );
  });
});
