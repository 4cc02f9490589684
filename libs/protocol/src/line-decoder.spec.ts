import fc from 'fast-check';
import { LineDecoder, MAX_LINE_BYTES } from './line-decoder.js';
import { FUZZ, gatewayErrorOf, pieces } from './testing/pieces.js';

interface Decoded {
  readonly lines: readonly string[];
  readonly bytes: string;
}

function decode(chunks: readonly Uint8Array[]): Decoded {
  const decoder = new LineDecoder();
  const lines: string[] = [];
  const raw: Buffer[] = [];
  const onLine = (bytes: Buffer, length: number): void => {
    lines.push(bytes.toString('latin1', 0, length));
    raw.push(bytes);
  };
  for (const chunk of chunks) decoder.push(chunk, onLine);
  decoder.end(onLine);
  expect(decoder.pendingBytes).toBe(0);
  return { lines, bytes: Buffer.concat(raw).toString('latin1') };
}

describe('LineDecoder', () => {
  it.each([
    ['a\nb\n', ['a', 'b']],
    ['a\r\nb\r\n', ['a', 'b']],
    ['a\rb\r', ['a', 'b']],
    ['a\n\r\n\rb', ['a', '', '', 'b']],
    ['\n\n', ['', '']],
    ['\r\r\n\n', ['', '', '']],
    ['no end', ['no end']],
    ['', []],
  ])('%j, split anywhere', (input, lines) => {
    const bytes = Buffer.from(input);
    for (let at = 0; at <= bytes.length; at += 1) {
      expect(decode([bytes.subarray(0, at), bytes.subarray(at)])).toEqual({ lines, bytes: input });
    }
    expect(decode(pieces(bytes, [1]))).toEqual({ lines, bytes: input });
  });

  it('gives the same lines however the bytes are cut', () => {
    const alphabet = fc.constantFrom('\r', '\n', '\r\n', 'a', 'bc', '');
    fc.assert(
      fc.property(
        fc.array(alphabet),
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1 }),
        (words, sizes) => {
          const input = words.join('');
          const expected = input.split(/\r\n|\r|\n/);
          if (expected.at(-1) === '') expected.pop();
          expect(decode(pieces(Buffer.from(input), sizes))).toEqual({ lines: expected, bytes: input });
        },
      ),
      FUZZ,
    );
  });

  it('gives out views where a read held the whole line', () => {
    const read = Buffer.from('one\ntwo\n');
    new LineDecoder().push(read, (bytes) => {
      expect(bytes.buffer).toBe(read.buffer);
    });
  });

  it('takes a line of 16 MiB, also in small pieces, and refuses a longer one', () => {
    const line = Buffer.alloc(MAX_LINE_BYTES, 'x');
    const lengths: number[] = [];
    const decoder = new LineDecoder();
    for (const piece of pieces(line, [1000])) decoder.push(piece, (_bytes, length) => lengths.push(length));
    decoder.push(Buffer.from('\n'), (_bytes, length) => lengths.push(length));
    expect(lengths).toEqual([MAX_LINE_BYTES]);
    const tooLong = (): void => {
      decoder.push(line, () => undefined);
      decoder.push(Buffer.from('xx'), () => undefined);
    };
    expect(gatewayErrorOf(tooLong).code).toBe('upstream_protocol');
  });

  it('needs linear time byte by byte', () => {
    const line = Buffer.alloc(2_000_000, 'x');
    const decoder = new LineDecoder();
    const begun = performance.now();
    for (let at = 0; at < line.length; at += 1) decoder.push(line.subarray(at, at + 1), () => undefined);
    expect(decoder.pendingBytes).toBe(line.length);
    // A hang limit: quadratic copying would move 2 TB.
    expect(performance.now() - begun).toBeLessThan(10_000);
  });
});
