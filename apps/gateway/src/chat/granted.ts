import type { Permit } from '@weir/limiter';
import type { UpstreamAnswer } from '@weir/upstream';

/** An attempt that was let through and answered well: its permit is held to the last frame. */
export interface Granted {
  readonly permit: Permit;
  readonly answer: UpstreamAnswer;
  /** 1 for the first. */
  readonly attempt: number;
}
