import type { Tokens } from '@weir/kernel';
import type { Cost } from '../limiter.js';

/**
 * What a provider books when a request starts (the vendors' rate-limit pages, read 2026-11; docs/providers.md):
 * `prompt_and_max` Azure, Groq, Bedrock; `larger_of_both` OpenAI; `as_produced` Anthropic and who says nothing of
 * max_tokens; `input_only` Gemini.
 */
export type ReservationRule = 'prompt_and_max' | 'larger_of_both' | 'as_produced' | 'input_only';

/** What is known of a request and of those before it. */
export interface ReservationFacts {
  readonly inputTokens: Tokens;
  /** The caller's bound for one choice. */
  readonly maxTokens: Tokens | undefined;
  /** Choices asked for. */
  readonly choices: number;
  /** Outputs of earlier requests, where there were enough. */
  readonly learned: OutputLength | undefined;
  /** Output supposed where neither the caller nor experience says anything. */
  readonly defaultOutput: Tokens;
  /** No guess is above it, or a request would be refused for ever for what is only supposed of it. Absent: unlimited. */
  readonly largest?: LargestCost | undefined;
}

/** What the limits of one request hold at once. */
export interface LargestCost {
  readonly tokens: Tokens;
  readonly inputTokens: Tokens;
  readonly outputTokens: Tokens;
}

/** How long outputs are. */
export interface OutputLength {
  readonly mean: Tokens;
  readonly q90: Tokens;
}

/**
 * What to reserve so that the provider does not refuse: with its own formula where it books the bound (less only buys
 * refusals), the mean where it books what comes out. Never more output than the caller allows.
 */
export function reservation(rule: ReservationRule, facts: ReservationFacts): Cost {
  const { inputTokens, outputTokens } = unbounded(rule, facts);
  const { largest, maxTokens } = facts;
  if (largest === undefined || maxTokens !== undefined) return { inputTokens, outputTokens };
  const most = Math.max(0, Math.min(largest.outputTokens, largest.tokens - inputTokens));
  return { inputTokens, outputTokens: Math.min(outputTokens, Math.floor(most)) };
}

function unbounded(rule: ReservationRule, facts: ReservationFacts): Cost {
  const { inputTokens, maxTokens, choices, learned, defaultOutput } = facts;
  const bound = maxTokens ?? learned?.q90 ?? defaultOutput;
  switch (rule) {
    case 'prompt_and_max':
      return { inputTokens, outputTokens: bound * choices };
    case 'larger_of_both':
      return { inputTokens, outputTokens: Math.max(0, bound * choices - inputTokens) };
    case 'as_produced':
      return { inputTokens, outputTokens: Math.min(learned?.mean ?? bound, maxTokens ?? Infinity) * choices };
    case 'input_only':
      return { inputTokens, outputTokens: 0 };
  }
}
