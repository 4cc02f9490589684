import type { Tokens } from '@weir/kernel';
import type { Cost } from '../limiter.js';
import type { LargestCost } from './reservation.js';

/**
 * Characters per token, at both ends. Measured 2026-11 with o200k_base: Chinese 1.2, emoji 1.1, base64 and tables of numbers
 * 1.5, JSON 2.4, code 4, European languages 4 to 7, indented code 6.4, a row of long words 12.7. cl100k_base: Chinese, Hindi
 * and Japanese 0.9 to 1.0, the rest alike. Only scripts that a vocabulary does not know are denser (Amharic 0.6), and only
 * runs of one sign are sparser.
 */
const DENSEST = 1;
const SPARSEST = 12;

/** What is known of a prompt without counting. */
export interface PromptLength {
  readonly characters: number;
  /** Tokens beside the text: roles, separators, pictures. */
  readonly besideText: Tokens;
}

/** What the limits on each way of a request hold at once. */
export interface RouteRoom {
  /** Of the target that is asked first. */
  readonly first: LargestCost;
  /** Of each unit the least of all. */
  readonly least: LargestCost;
  readonly each: readonly LargestCost[];
}

/** However dense the text is, and whatever is estimated: every limit holds it. True of nearly every request, by two comparisons. */
export function fitsAnyway(
  { characters, besideText }: PromptLength,
  estimated: Cost,
  { least }: RouteRoom,
): boolean {
  const most = Math.max(characters / DENSEST + besideText, estimated.inputTokens);
  return most <= least.inputTokens && most + estimated.outputTokens <= least.tokens;
}

/**
 * Whether counting may change what a limit says of a request: it would hold the sparsest text of this length and not the
 * densest, or the estimate disagrees with both. English is in doubt from about a quarter of a limit to three times the limit,
 * so of what is let through at most about four requests per window were counted.
 */
export function isInDoubt(
  { characters, besideText }: PromptLength,
  estimated: Cost,
  { each }: RouteRoom,
  costOf: (inputTokens: Tokens) => Cost,
): boolean {
  const sparse = costOf(Math.ceil(characters / SPARSEST) + besideText);
  const dense = costOf(Math.ceil(characters / DENSEST) + besideText);
  return each.some((largest) => {
    const isHeld = holds(largest, estimated);
    return isHeld !== holds(largest, sparse) || isHeld !== holds(largest, dense);
  });
}

function holds(largest: LargestCost, { inputTokens, outputTokens }: Cost): boolean {
  return (
    inputTokens + outputTokens <= largest.tokens &&
    inputTokens <= largest.inputTokens &&
    outputTokens <= largest.outputTokens
  );
}
