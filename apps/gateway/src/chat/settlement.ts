import type { Cost, Limiter, QuotaObservation, TokenEstimator, Usage } from '@weir/limiter';
import type { UpstreamAnswer } from '@weir/upstream';
import type { ChatCall } from './chat-call.js';
import type { Granted } from './granted.js';

/** Reads what an account's provider says about its limits in the headers of an answer. */
export type ReadQuota = (account: string, headers: UpstreamAnswer['headers']) => QuotaObservation;

/** Closes the books of an attempt whose answer began: charges what was used, and learns from it. */
export class Settlement {
  constructor(
    private readonly limiter: Limiter,
    private readonly estimator: TokenEstimator,
    private readonly readQuota: ReadQuota,
  ) {}

  /**
   * Called once the answer ended, however it ended. Idempotent, because a permit ends once.
   * @returns what was charged
   */
  settle(call: ChatCall, { permit, answer }: Granted): Cost {
    const { reading } = answer;
    const { model, template } = call.identity;
    const usage: Usage = {
      inputTokens: reading.usage?.inputTokens,
      outputTokens: reading.usage?.outputTokens,
    };
    this.estimator.learn({
      model,
      template,
      inputChars: call.characters,
      usage,
      truncated: reading.finishReason === 'length',
      n: 'choices' in call.request ? call.request.choices : 1,
    });
    this.limiter.observe(permit.target, this.readQuota(permit.target.account, answer.headers));
    const charge = {
      inputTokens: usage.inputTokens ?? permit.reserved.inputTokens,
      outputTokens: usage.outputTokens ?? this.estimator.outputOf(model, reading.visibleBytes),
    };
    permit.settle(charge);
    return charge;
  }
}
