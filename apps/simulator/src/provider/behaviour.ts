import type { Milliseconds } from '@weir/kernel';
import type { ProfileName } from '../profiles/profile.js';

/** How the provider speaks. */
export interface Behaviour {
  /** Picks the texts. */
  readonly seed: number;
  readonly firstTokenMs: Milliseconds;
  /** 0: as fast as possible. */
  readonly tokensPerSecond: number;
  /** Frames of content in a whole answer, one token each. Absent: the text has a length of its own, 16 to 47 tokens. */
  readonly frames?: number;
  /** Bytes of text in a frame, rounded up to a multiple of 4. A frame is one token however large it is. */
  readonly frameBytes: number;
  /** Whose headers and errors. */
  readonly profile: ProfileName;
  /** Whether the same question gets another text every time. */
  readonly diverge: boolean;
  /** Whether the answer tells its usage. */
  readonly usage: 'final' | 'none';
}

/** How it speaks until somebody says otherwise. */
export const DEFAULT_BEHAVIOUR: Behaviour = {
  seed: 1,
  firstTokenMs: 0,
  tokensPerSecond: 0,
  frameBytes: 4,
  profile: 'openai',
  diverge: false,
  usage: 'final',
};
