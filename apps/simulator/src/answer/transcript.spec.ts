import fc from 'fast-check';
import { Transcript, countTokens, type Reading } from './transcript.js';

const SEED = { seed: 20260103, numRuns: 300 };
const WHOLE: Reading = { prefix: '', maxTokens: Infinity, tokensPerPiece: 1 };

function said(transcript: Transcript, reading: Partial<Reading> = {}): string {
  return Array.from(transcript.read({ ...WHOLE, ...reading }), ({ text }) => text).join('');
}

const transcripts = fc
  .record({ seed: fc.nat(2 ** 32 - 1), tokens: fc.integer({ min: 1, max: 80 }) })
  .map(({ seed, tokens }) => new Transcript(seed, tokens));

describe('a transcript', () => {
  it('is a function of its seed, and has 4 bytes a token', () => {
    fc.assert(
      fc.property(transcripts, fc.integer({ min: 1, max: 9 }), (transcript, tokensPerPiece) => {
        const text = said(transcript);
        expect(said(transcript, { tokensPerPiece })).toBe(text);
        expect(Buffer.byteLength(text)).toBe(4 * transcript.tokens);
        expect(countTokens(text)).toBe(transcript.tokens);
      }),
      SEED,
    );
  });

  it('goes on after any beginning of itself', () => {
    fc.assert(
      fc.property(transcripts, fc.nat(400), (transcript, length) => {
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
          const reading = {
            ...WHOLE,
            maxTokens,
            prefix: said(transcript).slice(0, length),
            tokensPerPiece: 3,
          };
          const pieces = [...transcript.read(reading)];
          const tokens = pieces.reduce((sum, piece) => sum + piece.tokens, 0);
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
