import type { CallIdentity, GatewayError, Milliseconds, Target, Tokens } from '@weir/kernel';

/**
 * The limiter's words. A *dimension* is one limited quantity (requests, tokens, slots) of an account,
 * a model of an account, or a team. A *turn* is a request's place in the fair order; it takes one *permit*
 * per attempt. A permit debits every dimension of its route at once, or none, and ends exactly once:
 * settled, rejected, failed or cancelled. A *refund* is room given back by that ending, never more than the
 * permit took, always in the slot it was taken from.
 */
export interface Limiter {
  /**
   * Takes a place in the order; once per request, synchronously. Nothing is debited yet.
   * @throws GatewayError `queue_full` | `draining` | `internal` where the deadline is no number
   */
  enter(call: LimiterCall): Turn;
  /** When an attempt asked for now would be granted, without side effect. Infinity where it can never be. */
  eta(call: CallIdentity, ask: Ask): Milliseconds;
  /** What a team may still ask of a target now: of each unit, the dimension with the least left. No side effect. */
  quota(call: CallIdentity, target: Target): QuotaView;
  /** What a provider's answer told about its limits. Unknown targets are ignored. */
  observe(target: Target, observation: QuotaObservation): void;
  /**
   * A new limit at run time; waiters wake at once. 0 stops the dimension, Infinity disables it.
   * @returns whether there is such a dimension
   * @throws GatewayError `internal` where it is below 0 or no number
   */
  setLimit(dimension: string, limit: number): boolean;
  status(): LimiterStatus;
  /** Refuses every waiter and every newcomer with `draining`; permits that are out stay valid. */
  drain(): void;
}

/** Injection token of the port. */
export const Limiter = Symbol('Limiter');

/** One request, as the limiter sees it. */
export interface LimiterCall {
  readonly identity: CallIdentity;
  /** Monotonic time after which nothing may be granted. Covers every wait of the request, retries included. */
  readonly deadline: Milliseconds;
}

/** What one attempt wants. */
export interface Ask {
  readonly target: Target;
  readonly cost: Cost;
}

/** What one attempt reserves: finite, from zero on. One request and one slot are implied. */
export interface Cost {
  readonly inputTokens: Tokens;
  readonly outputTokens: Tokens;
}

/** A request's place in the order. */
export interface Turn {
  /**
   * Waits in the fair queue and debits every dimension at once. One at a time per turn; a retry calls it again
   * and keeps its age and its conversation's turn.
   * @param signal leaves the queue at once; no dimension is touched. Rejects with the signal's reason. Left out: it waits
   * until it is granted, refused or left
   * @throws GatewayError `cost_exceeds_capacity` | `wait_exceeds_deadline` | `team_share_exceeded` | `draining` | `internal` where
   * the cost is none
   */
  acquire(ask: Ask, signal?: AbortSignal): Promise<Permit>;
  /** Gives up the place and lets the conversation go on. Idempotent. A permit that is still out stays valid. */
  leave(): void;
}

/** The right to send one attempt. Exactly one ending counts; later ones return no refund and change nothing. */
export interface Permit {
  readonly id: string;
  readonly target: Target;
  readonly reserved: Cost;
  /** When the request was next in its conversation, so that only quotas and fairness held it. */
  readonly eligibleAt: Milliseconds;
  readonly grantedAt: Milliseconds;
  /** The dimension that was the last to have room, where there was a wait. */
  readonly boundBy: string | undefined;
  /** Room of that dimension, as it is when asked; undefined where it has no limit. */
  readonly boundRoom: number | undefined;
  /** Waiters before this one when it became eligible. */
  readonly depthAtEntry: number;
  /** From here on the request may have been counted: cancelling no longer gives the request back. */
  sent(): void;
  /** The answer came whole, or was cut after output: charge what was used. Missing numbers charge the reservation. */
  settle(usage: Usage): Ending;
  /** The provider or the wire said no before any output: `refundableAfter` says what comes back. */
  fail(failure: GatewayError): Ending;
  /** The request is not wanted any more: before `sent` everything comes back, after it the reservation is charged. */
  cancel(): Ending;
}

/** Tokens that an attempt used. `undefined`, or no finite number from zero on, means that nobody knows: the reservation stands. */
export interface Usage {
  readonly inputTokens: Tokens | undefined;
  readonly outputTokens: Tokens | undefined;
}

/** How a permit ended, for telemetry. */
export interface Ending {
  readonly kind: 'settled' | 'rejected' | 'failed' | 'cancelled' | 'already_ended';
  readonly reservedTokens: Tokens;
  /** What the attempt cost after its ending. Reserved minus charged is refunded, or overdrawn where negative. */
  readonly chargedTokens: Tokens;
  readonly refunds: readonly Refund[];
}

/** Room given back. */
export interface Refund {
  readonly unit: 'requests' | 'tokens';
  readonly amount: number;
  readonly reason: RefundReason;
}

/** Why room was given back. */
export type RefundReason = 'overestimate' | 'throttled' | 'error' | 'cancelled';

/** Requests and tokens as a caller sees them; absent where nothing limits them. */
export interface QuotaView {
  readonly requests: QuotaLevel | undefined;
  readonly tokens: QuotaLevel | undefined;
}

/** How full one dimension is. */
export interface QuotaLevel {
  readonly limit: number;
  readonly remaining: number;
  /** Time until all of it may be used again, if nothing else is sent. */
  readonly resetMs: Milliseconds;
}

/** Limits as a provider's headers state them; absent fields say nothing. */
export interface QuotaObservation {
  readonly limitRequests?: number;
  readonly limitTokens?: number;
  readonly remainingRequests?: number;
  readonly remainingTokens?: number;
}

/** Everything an operator may want to know, at one instant. */
export interface LimiterStatus {
  readonly waiting: number;
  readonly open: number;
  readonly draining: boolean;
  /** Permits that nobody ended, and whose slots were taken back. */
  readonly leaked?: number;
  readonly dimensions: readonly DimensionStatus[];
  readonly flows: readonly FlowStatus[];
}

/** One dimension, now. */
export interface DimensionStatus {
  readonly id: string;
  readonly scope: 'account' | 'model' | 'team';
  readonly account?: string;
  readonly model?: string;
  readonly team?: string;
  readonly unit: DimensionUnit;
  readonly limit: number;
  /** What could be granted at this instant, in the dimension's unit. */
  readonly room: number;
  readonly used: number;
  readonly windowMs?: Milliseconds;
  /** Declared or learned shape. */
  readonly shape?: string;
  /** Time until grants resume after a 429, in milliseconds; 0 when not paused. */
  readonly pausedForMs: Milliseconds;
}

/** What a dimension counts. */
export type DimensionUnit =
  'requests' | 'tokens' | 'input_tokens' | 'output_tokens' | 'slots' | 'requests_per_day';

/** The waiting requests of one team for one model. */
export interface FlowStatus {
  readonly team: string;
  readonly model: string;
  readonly waiting: number;
  readonly oldestMs: Milliseconds;
  /** Until the last of them is expected to be granted. */
  readonly etaMs: Milliseconds;
  /** The dimension that blocks its next request, as far as was looked. */
  readonly boundBy?: string;
}
