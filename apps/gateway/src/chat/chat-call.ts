import type { CallIdentity, Milliseconds, Target } from '@weir/kernel';
import type { Cost } from '@weir/limiter';
import type { ChatRequest } from '@weir/protocol';

/** The one value that travels: everything known of a request after it was read and found good. Immutable. */
export interface ChatCall {
  readonly identity: CallIdentity;
  readonly request: ChatRequest;
  /** Length of the prompt, for estimates. */
  readonly characters: number;
  /** Where it may be sent: equal choices, in the route's order. Never empty. */
  readonly targets: readonly [Target, ...Target[]];
  /** Where it may be sent when none of the targets can serve, in order. */
  readonly fallback: readonly Target[];
  /** What an attempt reserves. */
  readonly cost: Cost;
  /** When the call came, and when it may no longer be sent; monotonic. */
  readonly arrivedAt: Milliseconds;
  readonly deadline: Milliseconds;
}
