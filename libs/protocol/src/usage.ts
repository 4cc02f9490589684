import type { Tokens } from '@weir/kernel';
import { isRecord } from './json-value.js';

/** Tokens as a provider reports them, whatever it calls them. */
export interface TokenUsage {
  readonly inputTokens: Tokens | undefined;
  /** Everything that was generated, reasoning included. */
  readonly outputTokens: Tokens | undefined;
  readonly totalTokens: Tokens | undefined;
  /** The part of the input that came from a cache. */
  readonly cachedInputTokens: Tokens | undefined;
}

/**
 * Reads a usage block of any dialect: OpenAI, Anthropic (input excludes what the cache holds), Gemini, Cohere.
 * xAI and Gemini leave reasoning out of the completion but not out of the total, so the total decides (read 2026-11).
 * @returns undefined where the value holds no number that we know
 */
export function readUsage(block: unknown): TokenUsage | undefined {
  if (!isRecord(block)) return undefined;
  const source = isRecord(block['tokens']) ? block['tokens'] : block;
  const inputTokens = sum(
    first(source, 'prompt_tokens', 'input_tokens', 'promptTokenCount'),
    count(source['cache_creation_input_tokens']),
    count(source['cache_read_input_tokens']),
  );
  const generated = sum(
    first(source, 'completion_tokens', 'output_tokens', 'candidatesTokenCount'),
    count(source['thoughtsTokenCount']),
  );
  const total = first(source, 'total_tokens', 'totalTokenCount');
  if (inputTokens === undefined && generated === undefined && total === undefined) return undefined;
  const outputTokens =
    total === undefined || inputTokens === undefined
      ? generated
      : Math.max(generated ?? 0, total - inputTokens);
  return {
    inputTokens,
    outputTokens,
    totalTokens: total ?? sumOf(inputTokens, outputTokens),
    cachedInputTokens: cachedTokens(block),
  };
}

/** The newer block wins, field by field: blocks are cumulative and are never added up. */
export function mergeUsage(older: TokenUsage | undefined, newer: TokenUsage): TokenUsage {
  if (older === undefined) return newer;
  const inputTokens = newer.inputTokens ?? older.inputTokens;
  const outputTokens = newer.outputTokens ?? older.outputTokens;
  const isWhole = newer.inputTokens !== undefined && newer.outputTokens !== undefined;
  return {
    inputTokens,
    outputTokens,
    totalTokens: isWhole ? newer.totalTokens : (sumOf(inputTokens, outputTokens) ?? newer.totalTokens),
    cachedInputTokens: newer.cachedInputTokens ?? older.cachedInputTokens,
  };
}

function cachedTokens(block: Readonly<Record<string, unknown>>): Tokens | undefined {
  const details = block['prompt_tokens_details'];
  return (
    (isRecord(details) ? count(details['cached_tokens']) : undefined) ??
    first(
      block,
      'prompt_cache_hit_tokens',
      'cached_tokens',
      'cache_read_input_tokens',
      'cachedContentTokenCount',
    )
  );
}

function first(block: Readonly<Record<string, unknown>>, ...names: readonly string[]): number | undefined {
  for (const name of names) {
    const value = count(block[name]);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** More than any context or output holds; beyond it a counter would be spoilt for good. */
const MOST_TOKENS: Tokens = 1e9;

/** A field counts only where it is a number that tokens can have. */
function count(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && value <= MOST_TOKENS ? value : undefined;
}

/** Extras count only beside the main number. */
function sum(main: number | undefined, ...extras: readonly (number | undefined)[]): number | undefined {
  if (main === undefined) return undefined;
  return extras.reduce<number>((all, extra) => all + (extra ?? 0), main);
}

function sumOf(input: number | undefined, output: number | undefined): number | undefined {
  return input === undefined || output === undefined ? undefined : input + output;
}
