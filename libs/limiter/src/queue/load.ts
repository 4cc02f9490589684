import { amountOf, countsRequests } from '../ledger/ledger.js';
import type { Cost } from '../limiter.js';
import type { Dimension } from '../quota/dimension.js';

/** Work of several requests. */
export interface Load extends Cost {
  readonly requests: number;
}

/** What a load takes of one dimension. */
export function loadOn({ spec: { unit } }: Dimension, load: Load): number {
  return countsRequests(unit) ? load.requests : amountOf(unit, load);
}

/** What of a class waits and could go, as far as its teams' own limits are concerned. */
export class Demand implements Load {
  /** Sum over the flows that have something waiting. Zero: nobody wants anything. */
  weight = 0;
  requests = 0;
  inputTokens = 0;
  outputTokens = 0;
  private flows = 0;

  /** A flow begins (1) or ceases (-1) to want something. */
  count(weight: number, sign: 1 | -1): void {
    this.flows += sign;
    // Nobody has no weight, not even a rounding error of it.
    this.weight = this.flows === 0 ? 0 : this.weight + sign * weight;
  }

  add({ requests, inputTokens, outputTokens }: Load, sign: 1 | -1): void {
    this.requests += sign * requests;
    this.inputTokens += sign * inputTokens;
    this.outputTokens += sign * outputTokens;
  }
}
