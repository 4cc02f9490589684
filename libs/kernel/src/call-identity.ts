/** Order of importance, as weights; never a strict order. */
export type Priority = 'high' | 'normal' | 'low';

/**
 * Who asks for what: the immutable part of a request that every room may know.
 * One object per request, so that whoever wants to find something of the request again can keep it there.
 */
export interface CallIdentity {
  /** `x-request-id`, ours. */
  readonly requestId: string;
  /** Configured team id. */
  readonly team: string;
  /** The model name that the caller used (a route). */
  readonly model: string;
  /** `chat`, `embeddings`: OpenTelemetry's `gen_ai.operation.name`. */
  readonly operation: string;
  /** `x-prompt-template`, or `none`. */
  readonly template: string;
  readonly priority: Priority;
  /** `x-conversation-id`: requests of one conversation keep their order. */
  readonly conversation?: string;
}

/** Where an attempt goes: one model of one account. */
export interface Target {
  readonly account: string;
  /** The provider's model name. */
  readonly model: string;
}
