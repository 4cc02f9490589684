import type { Tokens } from '@weir/kernel';
import type { Cost, Usage } from '../limiter.js';
import { CharacterRatio } from './character-ratio.js';
import { OutputSamples } from './output-samples.js';
import { RecentMap } from './recent-map.js';
import { reservation, type LargestCost, type OutputLength, type ReservationRule } from './reservation.js';

/** What is known of a request before it is sent. */
export interface ReserveRequest {
  readonly model: string;
  readonly template: string;
  /** Visible characters (or bytes, always the same) of the prompt. */
  readonly inputChars: number;
  readonly maxTokens?: Tokens | undefined;
  /** Choices asked for. Default 1. */
  readonly n?: number;
  /** How the provider books. Default: prompt and max_tokens, the most cautious. */
  readonly rule?: ReservationRule;
  /** What its limits hold at once; an output that the caller does not bound is not guessed larger. Default: unlimited. */
  readonly largest?: LargestCost | undefined;
  /** Its input tokens, where somebody counted them. Default: an estimate. */
  readonly counted?: Tokens;
}

/** What is known of it afterwards. */
export interface Outcome {
  readonly model: string;
  readonly template: string;
  readonly inputChars: number;
  readonly usage: Usage;
  /** Whether the output was cut at its limit. */
  readonly truncated: boolean;
  /** Choices asked for. Default 1. */
  readonly n?: number;
}

/** Bounds and defaults. */
export interface EstimatorOptions {
  /** Output supposed where neither the caller nor experience says anything. Keep it a fraction of the smallest limit. */
  readonly defaultOutput?: Tokens;
  /** Models, and (model, template) pairs, that are remembered. Each pair takes about 2 KB. */
  readonly capacity?: number;
}

/**
 * Guesses tokens before a request, and learns from what it cost. A ratio of characters costs about a
 * thousandth of a real tokenizer (measured 2026-11), and settlement corrects it.
 */
export class TokenEstimator {
  private readonly defaultOutput: Tokens;
  private readonly ratios: RecentMap<CharacterRatio>;
  private readonly outputs: RecentMap<OutputSamples>;

  constructor({ defaultOutput = 1024, capacity = 1000 }: EstimatorOptions = {}) {
    this.defaultOutput = defaultOutput;
    this.ratios = new RecentMap(capacity, () => new CharacterRatio());
    this.outputs = new RecentMap(capacity, () => new OutputSamples());
  }

  /** Input tokens of a prompt. */
  estimateInput(model: string, inputChars: number): Tokens {
    return (this.ratios.peek(model) ?? UNTAUGHT).ofPrompt(inputChars);
  }

  /** Output tokens of a text of `bytes`, where the provider did not count them. */
  outputOf(model: string, bytes: number): Tokens {
    return (this.ratios.peek(model) ?? UNTAUGHT).ofText(bytes);
  }

  /** How long outputs of this template are, or else of this model. Undefined before 20 of them. */
  outputLength(model: string, template: string): OutputLength | undefined {
    return this.outputs.peek(pair(model, template))?.length ?? this.outputs.peek(pair(model))?.length;
  }

  /** What an attempt should reserve. */
  reserve(request: ReserveRequest): Cost {
    const { model, template, inputChars, maxTokens, n = 1, rule = 'prompt_and_max', largest } = request;
    return reservation(rule, {
      inputTokens: request.counted ?? this.estimateInput(model, inputChars),
      maxTokens,
      choices: n,
      learned: this.outputLength(model, template),
      defaultOutput: this.defaultOutput,
      largest,
    });
  }

  /** Numbers that the provider did not report teach nothing. */
  learn({ model, template, inputChars, usage, truncated, n = 1 }: Outcome): void {
    const { inputTokens, outputTokens } = usage;
    if (inputTokens !== undefined) this.ratios.use(model).learn(inputChars, inputTokens);
    if (outputTokens === undefined || outputTokens <= 0) return;
    for (const key of [pair(model), pair(model, template)]) {
      this.outputs.use(key).add(outputTokens / n, truncated);
    }
  }
}

const UNTAUGHT = new CharacterRatio();

/** No model or template name holds a zero byte; without a template, all of the model's outputs. */
function pair(model: string, template?: string): string {
  return template === undefined ? model : `${model}\u0000${template}`;
}
