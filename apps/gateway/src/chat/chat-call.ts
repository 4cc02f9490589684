import type { CallIdentity, Milliseconds, Target } from '@weir/kernel';
import type { Cost, ReserveRequest } from '@weir/limiter';
import type { ModelRequest } from '@weir/protocol';
import type { Resume } from '@weir/upstream';
import type { PromptText } from './prompt-text.js';

/** The one value that travels: everything known of a request after it was read and found good. Immutable. */
export interface ChatCall {
  readonly identity: CallIdentity;
  /** Below the account's base URL, such as `/chat/completions`. */
  readonly path: string;
  readonly request: ModelRequest;
  /** Length of the prompt, for estimates. */
  readonly characters: number;
  /** Where it may be sent: equal choices, in the route's order. Never empty. */
  readonly targets: readonly [Target, ...Target[]];
  /** Where it may be sent when none of the targets can serve, in order. */
  readonly fallback: readonly Target[];
  /** What an attempt reserves. */
  readonly cost: Cost;
  /** Set until it is counted, where an estimate cannot tell whether its limits will ever hold it. */
  readonly uncounted?: Uncounted | undefined;
  /** When the call came, and when it may no longer be sent; monotonic. */
  readonly arrivedAt: Milliseconds;
  readonly deadline: Milliseconds;
  /** Set where it asks for an answer again that broke after its caller had some of it. */
  readonly resume?: Resume;
}

/** What a count needs. */
export interface Uncounted {
  readonly prompt: PromptText;
  /** How it is reserved, once it is counted. */
  readonly ask: ReserveRequest;
}
