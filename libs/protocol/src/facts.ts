import type { TokenUsage } from './usage.js';

/** One choice, as far as this piece of the answer tells. */
export interface ChoiceFacts {
  readonly index: number;
  /** Visible text: no reasoning, no tool arguments. */
  readonly text: string;
  /** Bytes (UTF-8) of everything that was generated: text, reasoning, refusal, tool names and arguments. */
  readonly visibleBytes: number;
  /** Whether a person or a tool gets something from it. */
  readonly visible: boolean;
  readonly finishReason: string | undefined;
}

/** What the gateway needs to know of a chunk or of a whole completion. */
export interface CompletionFacts {
  readonly id: string | undefined;
  readonly model: string | undefined;
  readonly choices: readonly ChoiceFacts[];
  readonly usage: TokenUsage | undefined;
  /** OpenAI's extra chunk: usage, and an empty list of choices. */
  readonly usageOnly: boolean;
  /** Dialects without `[DONE]` that say by themselves that nothing follows. */
  readonly ended: boolean;
}
