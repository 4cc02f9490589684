import type { Clock, Milliseconds } from '@weir/kernel';
import { vocabularyOf, type Encoding, type TokenCounter, type TokenEstimator } from '@weir/limiter';
import type { ChatCall, Uncounted } from './chat-call.js';

/** The longest that a request waits for its count; the largest body takes half of it. */
const LONGEST_WAIT_MS: Milliseconds = 3_000;
/** What of the caller's own time a count may take, so that its request can still be sent in the rest. */
const SHARE_OF_PATIENCE = 1 / 2;

/**
 * Counts requests of which an estimate cannot tell whether any window will ever hold them (docs/decisions/0007). Where nobody
 * can count in time, the estimate stands.
 */
export class ExactCost {
  /** @param guessesInput whether the provider of an account admits by characters itself */
  constructor(
    private readonly counter: TokenCounter,
    private readonly estimator: TokenEstimator,
    private readonly clock: Clock,
    private readonly guessesInput: (account: string) => boolean,
  ) {}

  /**
   * The call, with what it costs as far as that can be known.
   * @param signal ends the wait; its reason is thrown
   */
  async of(call: ChatCall, { ask, prompt }: Uncounted, signal: AbortSignal): Promise<ChatCall> {
    const { encoding } = vocabularyOf(call.targets[0].model);
    const leftMs = call.deadline - this.clock.now();
    const withinMs = Math.min(LONGEST_WAIT_MS, leftMs * SHARE_OF_PATIENCE);
    const inTexts = await this.counter.count({ texts: prompt.texts, encoding, withinMs }, signal);
    if (inTexts === undefined) return { ...call, uncounted: undefined };
    const tokens = inTexts + prompt.besideText;
    // Else it is a second estimate. To refuse wrongly is for ever, to let through wrongly costs a provider's refusal.
    const isTruth = prompt.isWhole && this.countLike(call, encoding);
    const counted = isTruth ? tokens : Math.min(tokens, call.cost.inputTokens);
    return { ...call, cost: this.estimator.reserve({ ...ask, counted }), uncounted: undefined };
  }

  /** Whether each provider that may be called counts with this vocabulary, and does count. */
  private countLike({ targets, fallback }: ChatCall, encoding: Encoding): boolean {
    return [...targets, ...fallback].every(({ account, model }) => {
      const own = vocabularyOf(model);
      return own.isOwn && own.encoding === encoding && !this.guessesInput(account);
    });
  }
}
