import fc from 'fast-check';
import type { Cost } from '../limiter.js';
import { fitsAnyway, isInDoubt, type PromptLength, type RouteRoom } from './doubt.js';
import type { LargestCost } from './reservation.js';
import { TokenEstimator } from './token-estimator.js';

const NOTHING_LIMITED: LargestCost = { tokens: Infinity, inputTokens: Infinity, outputTokens: Infinity };

function roomOf(...each: readonly Partial<LargestCost>[]): RouteRoom {
  const all = each.map((some) => ({ ...NOTHING_LIMITED, ...some }));
  const least = {
    tokens: Math.min(...all.map(({ tokens }) => tokens)),
    inputTokens: Math.min(...all.map(({ inputTokens }) => inputTokens)),
    outputTokens: Math.min(...all.map(({ outputTokens }) => outputTokens)),
  };
  return { first: all[0] ?? NOTHING_LIMITED, least, each: all };
}

/** What the reader of a call asks, for a prompt of one message. */
function doubts(characters: number, room: RouteRoom, maxTokens = 100): boolean {
  const estimator = new TokenEstimator();
  const ask = { model: 'm', template: 't', inputChars: characters, maxTokens };
  const prompt: PromptLength = { characters, besideText: 7 };
  const estimated = estimator.reserve(ask);
  if (fitsAnyway(prompt, estimated, room)) return false;
  return isInDoubt(prompt, estimated, room, (counted) => estimator.reserve({ ...ask, counted }));
}

describe('a request whose tokens are only estimated', () => {
  const room = roomOf({ tokens: 1_000 });

  it.each([
    ['would fit as a token for each character', 800, false],
    ['fits by the estimate, and would not fit as Chinese', 2_000, true],
    ['just fits by the estimate', 3_560, true],
    ['does not fit by the estimate, and would as a row of long words', 4_000, true],
    ['would still fit at twelve characters per token', 10_700, true],
    ['fits at no density', 10_800, false],
  ])('%s (%s characters): in doubt %s', (_, characters, expected) => {
    expect(doubts(characters, room)).toBe(expected);
  });

  it('is in no doubt where its own bound of the output alone is too large, or nothing limits it', () => {
    expect(doubts(3_000, room, 5_000)).toBe(false);
    expect(doubts(100_000_000, roomOf({}))).toBe(false);
  });

  it('is in doubt where any target of its route may or may not hold it, whatever the others say', () => {
    expect(doubts(4_000, roomOf({ tokens: 100_000 }, { tokens: 1_000 }))).toBe(true);
    expect(doubts(4_000, roomOf({ tokens: 100_000 }, { tokens: 90 }))).toBe(false);
  });

  it('looks at limits of input as well', () => {
    expect(doubts(4_000, roomOf({ inputTokens: 1_000 }))).toBe(true);
    expect(doubts(4_000, roomOf({ inputTokens: 5_000 }))).toBe(false);
  });

  it('is in doubt where a model was seen to count more tokens than there are characters', () => {
    const prompt = { characters: 800, besideText: 7 };
    const costOf = (inputTokens: number): Cost => ({ inputTokens, outputTokens: 100 });
    expect(fitsAnyway(prompt, costOf(1_500), room)).toBe(false);
    expect(isInDoubt(prompt, costOf(1_500), room, costOf)).toBe(true);
  });

  it('without doubt is judged alike by every count between the ends', () => {
    const some = fc.record({
      characters: fc.nat(20_000),
      maxTokens: fc.option(fc.integer({ min: 1, max: 3_000 }), { nil: undefined }),
      limit: fc.integer({ min: 50, max: 5_000 }),
      rule: fc.constantFrom('prompt_and_max', 'larger_of_both', 'as_produced', 'input_only'),
      at: fc.double({ min: 1, max: 12, noNaN: true }),
    });
    fc.assert(
      fc.property(some, ({ characters, maxTokens, limit, rule, at }) => {
        const [estimator, own] = [new TokenEstimator(), roomOf({ tokens: limit })];
        const largest = maxTokens === undefined ? own.first : undefined;
        const ask = { model: 'm', template: 't', inputChars: characters, maxTokens, rule, largest };
        const costOf = (counted: number): Cost => estimator.reserve({ ...ask, counted });
        const [prompt, estimated] = [{ characters, besideText: 7 }, estimator.reserve(ask)];
        fc.pre(fitsAnyway(prompt, estimated, own) || !isInDoubt(prompt, estimated, own, costOf));
        const holds = ({ inputTokens, outputTokens }: Cost): boolean => inputTokens + outputTokens <= limit;
        expect(holds(costOf(Math.ceil(characters / at) + 7))).toBe(holds(estimated));
      }),
      { numRuns: 1000, seed: 20 },
    );
  });
});
