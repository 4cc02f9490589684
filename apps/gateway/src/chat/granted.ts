import type { UpstreamAnswer } from '@weir/upstream';
import type { RoutedPermit } from './routing/routed-permit.js';

/** An attempt that was let through and answered well: its permit is held to the last frame. */
export interface Granted {
  readonly permit: RoutedPermit;
  readonly answer: UpstreamAnswer;
  /** 1 for the first. */
  readonly attempt: number;
}
