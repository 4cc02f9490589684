import type { Milliseconds, Random } from '@weir/kernel';
import type { Judgement, ProviderLimits, ProviderShape } from './provider-quotas.js';
import type { Job } from './traffic.js';
import type { VirtualTime } from './virtual-time.js';

/** What paces: takes jobs in, calls `send` when one may leave, and hears what the provider said. */
export interface Contender {
  submit(job: Job): void;
}

/** What a contender may use. */
export interface Surroundings {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly limits: ProviderLimits;
  /** The provider's true shape, for those who are told. */
  readonly shape: ProviderShape;
  /** One call; `answered` hears the judgement a delay there and a delay back later. */
  send(job: Job, answered: (judgement: Judgement) => void): void;
}

/** Marks a job that nobody waits for any more. @returns whether it was too late */
export function expire(job: Job, now: Milliseconds): boolean {
  if (job.deadline >= now) return false;
  job.state = 'expired';
  return true;
}
