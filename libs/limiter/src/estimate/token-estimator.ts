import type { Tokens } from '@weir/kernel';
import type { Cost, Usage } from '../limiter.js';

/** What is known of a request before it is sent. */
export interface ReserveRequest {
  readonly model: string;
  readonly template: string;
  readonly inputChars: number;
  readonly maxTokens: Tokens | undefined;
  /** Choices asked for. */
  readonly n: number;
}

/** What is known of it afterwards. */
export interface Outcome {
  readonly model: string;
  readonly template: string;
  readonly inputChars: number;
  readonly usage: Usage;
  /** Whether the output was cut at its limit. */
  readonly truncated: boolean;
}

/** English text in common tokenizers; learned per model from reported usage. */
const CHARS_PER_TOKEN = 4;
/** Output supposed where neither the caller nor experience says anything. */
const DEFAULT_OUTPUT: Tokens = 1024;

/** Guesses tokens before a request, and learns from what it cost. */
export class TokenEstimator {
  private readonly charsPerToken = new Map<string, number>();

  reserve(request: ReserveRequest): Cost {
    return {
      inputTokens: Math.ceil(request.inputChars / this.ratio(request.model)) + 8,
      outputTokens: (request.maxTokens ?? DEFAULT_OUTPUT) * request.n,
    };
  }

  learn({ model, inputChars, usage }: Outcome): void {
    if (usage.inputTokens === undefined || usage.inputTokens === 0 || inputChars === 0) return;
    const seen = Math.min(8, Math.max(0.5, inputChars / usage.inputTokens));
    this.charsPerToken.set(model, this.ratio(model) * 0.9 + seen * 0.1);
  }

  /** Output tokens of a text of `bytes`, where the provider did not count them. */
  outputOf(model: string, bytes: number): Tokens {
    return Math.ceil(bytes / this.ratio(model));
  }

  private ratio(model: string): number {
    return this.charsPerToken.get(model) ?? CHARS_PER_TOKEN;
  }
}
