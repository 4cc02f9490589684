import fc from 'fast-check';
import { SseDecoder } from './sse-decoder.js';
import { FUZZ, gatewayErrorOf, pieces } from './testing/pieces.js';

interface Decoded {
  readonly events: readonly { data: string | undefined; event: string | undefined; terminated: boolean }[];
  readonly frames: readonly string[];
}

function decode(chunks: readonly Uint8Array[]): Decoded {
  const decoder = new SseDecoder();
  const events: Decoded['events'][number][] = [];
  const frames: string[] = [];
  const onEvent: Parameters<SseDecoder['push']>[1] = ({ bytes, data, event, terminated }) => {
    events.push({ data: data?.toString('utf8'), event, terminated });
    frames.push(bytes.toString('latin1'));
  };
  for (const chunk of chunks) decoder.push(chunk, onEvent);
  decoder.end(onEvent);
  expect(decoder.pendingBytes).toBe(0);
  return { events, frames };
}

/** What every event says, comments and blanks left out. */
function said(input: string | Buffer): readonly (string | undefined)[][] {
  const { events } = decode([Buffer.from(input)]);
  return events
    .filter(({ data }) => data !== undefined)
    .map(({ data, event }) => (event === undefined ? [data] : [data, event]));
}

describe('SseDecoder', () => {
  it.each<[string, string, readonly (string | undefined)[][]]>([
    ['a plain event', 'data: x\n\n', [['x']]],
    ['no space', 'data:x\n\n', [['x']]],
    ['one space only is syntax', 'data:  x\n\n', [[' x']]],
    ['several lines', 'data: a\ndata: b\ndata:\n\n', [['a\nb\n']]],
    ['field order', 'data: x\nevent: e\nid: 7\nretry: 3\n\n', [['x', 'e']]],
    ['a comment inside', ': hi\ndata: x\n: ho\n\n', [['x']]],
    ['a comment alone', ': hi\n\n', []],
    ['an empty event', 'event: e\n\ndata: x\n\n', [['x']]],
    ['empty data', 'data:\n\ndata\n\n', []],
    ['an id alone', 'id: 1\n\n', []],
    ['CRLF', 'data: x\r\n\r\ndata: y\r\n\r\n', [['x'], ['y']]],
    ['CR', 'data: x\r\rdata: y\r\r', [['x'], ['y']]],
    ['all three', 'data: x\r\n\ndata: y\n\r\ndata: z\r\r\n', [['x'], ['y'], ['z']]],
    ['a byte order mark', '\ufeffdata: x\n\n', [['x']]],
    ['a byte order mark later', 'data: x\n\n\ufeffdata: y\n\n', [['x']]],
    ['no end', 'data: x\n\ndata: y', [['x'], ['y']]],
    ['a bare end mark', 'data: x\n\n[DONE]\n\n', [['x'], ['[DONE]']]],
    ['a bare end mark without a line end', '[DONE]', [['[DONE]']]],
    ['bare JSON after pings', ': PING\n\n{"error":{"a":1}}', [['{"error":{"a":1}}']]],
    ['bare JSON over lines', '{\n "error": {}\n}\n\ndata: x\n\n', [['{\n "error": {}\n}'], ['x']]],
    ['a bare list', '[{"error":{}}]\n\n', [['[{"error":{}}]']]],
    ['the field error', 'error: {"code":400}\n\n', [['{"code":400}', 'error']]],
    ['an unknown field', 'datax: 1\nfoo\n\n', []],
    ['a colon in data', 'data: a: b\n\n', [['a: b']]],
  ])('%s', (_name, input, expected) => {
    expect(said(input)).toEqual(expected);
    const bytes = Buffer.from(input);
    expect(decode(pieces(bytes, [1]))).toEqual(decode([bytes]));
  });

  it('keeps comments and blank lines with the event that follows or ends there', () => {
    expect(decode([Buffer.from('\n: a\n: b\ndata: x\n\n: c\n\n')]).frames).toEqual([
      '\n',
      ': a\n: b\ndata: x\n\n',
      ': c\n\n',
    ]);
  });

  it('keeps both halves of a split CRLF in one frame', () => {
    const frames = ['data: x\r\n\r\n', 'data: y\r\n\r\n'];
    const bytes = Buffer.from(frames.join(''));
    for (let at = 1; at < bytes.length; at += 1) {
      expect(decode([bytes.subarray(0, at), bytes.subarray(at)]).frames).toEqual(frames);
    }
  });

  it('tells an event that was not ended', () => {
    expect(decode([Buffer.from('data: x\n')]).events).toEqual([
      { data: 'x', event: undefined, terminated: false },
    ]);
  });

  it('loses no byte and reads the same, whatever comes and however it is cut', () => {
    const word = fc.constantFrom(
      ...[
        'data: ',
        'data:',
        'event: e',
        'id: 1',
        ': c',
        'error: {',
        '{"error":1}',
        '[DONE]',
        'é🦀',
        'x',
        ' ',
      ],
      ...['\n', '\r', '\r\n', '\n\n', '\ufeff'],
    );
    const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 });
    fc.assert(
      fc.property(fc.array(word), sizes, (words, cut) => {
        const bytes = Buffer.from(words.join(''));
        const whole = decode([bytes]);
        expect(whole.frames.join('')).toBe(bytes.toString('latin1'));
        expect(decode(pieces(bytes, cut))).toEqual(whole);
      }),
      FUZZ,
    );
  });

  it('takes a million random bytes', () => {
    let total = 0;
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1000, maxLength: 3000 }),
        fc.integer({ min: 1, max: 700 }),
        (bytes, size) => {
          total += bytes.length;
          const { frames } = decode(pieces(bytes, [size]));
          expect(frames.join('')).toBe(Buffer.from(bytes).toString('latin1'));
        },
      ),
      { ...FUZZ, numRuns: 1000 },
    );
    expect(total).toBeGreaterThan(1_000_000);
  });

  it('bounds an event of many lines', () => {
    const decoder = new SseDecoder();
    const block = Buffer.from(`data: ${'x'.repeat(1000)}\n`.repeat(1000));
    const flood = (): void => {
      for (let i = 0; i < 64; i += 1) decoder.push(Buffer.from(block), () => undefined);
    };
    expect(gatewayErrorOf(flood).code).toBe('upstream_protocol');
  });
});
