import fc from 'fast-check';
import { Transcript, countTokens, type Reading } from './transcript.js';

const SEED = { seed: 20260103, numRuns: 300 };
const WHOLE: Reading = { prefix: '', maxTokens: Infinity };

function said(transcript: Transcript, reading: Partial<Reading> = {}): string {
  return [...transcript.read({ ...WHOLE, ...reading })].join('');
}

const shapes = fc.record({
  seed: fc.nat(2 ** 32 - 1),
  tokens: fc.integer({ min: 1, max: 80 }),
  wordsPerToken: fc.integer({ min: 1, max: 9 }),
});
const transcripts = shapes.map(
  ({ seed, tokens, wordsPerToken }) => new Transcript(seed, tokens, wordsPerToken),
);

describe('a transcript', () => {
  it('has 4 bytes a word, whatever its tokens are', () => {
    fc.assert(
      fc.property(shapes, ({ seed, tokens, wordsPerToken }) => {
        const text = said(new Transcript(seed, tokens, wordsPerToken));
        expect(Buffer.byteLength(text)).toBe(4 * tokens * wordsPerToken);
        expect(said(new Transcript(seed, tokens * wordsPerToken))).toBe(text);
        expect(text).toMatch(/^([^ .]{1,3} )*[^ .]{1,3}\.$/);
      }),
      SEED,
    );
  });

  it('goes on after any beginning of itself', () => {
    fc.assert(
      fc.property(transcripts, fc.nat(3000), (transcript, length) => {
        const text = said(transcript);
        const prefix = text.slice(0, length);
        expect(prefix + said(transcript, { prefix })).toBe(text);
      }),
      SEED,
    );
  });

  it('starts anew after what is not its beginning', () => {
    const transcript = new Transcript(7, 20);
    const text = said(transcript);
    expect(said(transcript, { prefix: 'Something else' })).toBe(text);
    expect(said(transcript, { prefix: `${text} and more` })).toBe(text);
  });

  it('stops at the largest number of tokens, and says beforehand how many come', () => {
    fc.assert(
      fc.property(
        transcripts,
        fc.integer({ min: 1, max: 90 }),
        fc.nat(200),
        (transcript, maxTokens, length) => {
          const reading = { maxTokens, prefix: said(transcript).slice(0, length) };
          const tokens = [...transcript.read(reading)].length;
          expect(tokens).toBe(transcript.length(reading));
          expect(tokens).toBeLessThanOrEqual(maxTokens);
        },
      ),
      SEED,
    );
  });

  it('differs from seed to seed, and has letters beyond ASCII', () => {
    const texts = Array.from({ length: 50 }, (_, seed) => said(new Transcript(seed, 40)));
    expect(new Set(texts).size).toBe(50);
    expect(texts.join('')).toMatch(/[^ -~]/);
  });
});

it('4 bytes of a prompt are a token, rounded up', () => {
  expect(['', 'a', 'abcd', 'abcde', 'éé'].map(countTokens)).toEqual([0, 1, 1, 2, 1]);
});
