import type { Tokens } from '@weir/kernel';

/** English text in common tokenizers. */
const PRIOR_CHARS_PER_TOKEN = 4;
/** How much text the prior is worth, in tokens. */
const PRIOR_TOKENS = 500;
/** What an old token still counts after a new request, so that a change of language is followed in tens of requests. */
const MEMORY = 0.95;
/** One very long prompt must not outweigh a hundred usual ones. */
const LARGEST_SAMPLE: Tokens = 4_000;
/** Beyond these the characters were not what was counted: images, caches, mistakes. */
const FEWEST = 0.5;
const MOST = 12;
/** Frame of a chat: roles, separators, the start of the answer. */
const OVERHEAD: Tokens = 8;

/** Characters per token of one model, learned from what it reported. */
export class CharacterRatio {
  private chars = PRIOR_CHARS_PER_TOKEN * PRIOR_TOKENS;
  private tokens = PRIOR_TOKENS;

  learn(chars: number, tokens: Tokens): void {
    const counted = tokens - OVERHEAD;
    if (chars <= 0 || counted <= 0) return;
    const ratio = Math.min(MOST, Math.max(FEWEST, chars / counted));
    const weight = Math.min(LARGEST_SAMPLE, counted);
    this.chars = this.chars * MEMORY + ratio * weight;
    this.tokens = this.tokens * MEMORY + weight;
  }

  /** Tokens of a prompt. */
  ofPrompt(chars: number): Tokens {
    return this.ofText(chars) + OVERHEAD;
  }

  /** Tokens of a plain text. */
  ofText(chars: number): Tokens {
    return Math.ceil((Math.max(0, chars) * this.tokens) / this.chars);
  }
}
