import type { CallIdentity, Milliseconds } from '@weir/kernel';
import type { Ask, LimiterCall, Permit, Turn } from './limiter.js';
import type { Speaker } from './queue/conversations.js';
import type { Member } from './teams.js';

/** Where turns ask. */
export interface TurnDesk {
  /** How long a request may wait at most, retries included. */
  readonly maxWaitMs: Milliseconds;
  acquire(turn: PacedTurn, ask: Ask, signal: AbortSignal | undefined): Promise<Permit>;
  leave(turn: PacedTurn): void;
}

/** A turn's wait for a permit. */
export interface TurnWait {
  /** The conversation lets it go on. */
  proceed(): void;
  /** Nobody wants the permit any more. */
  abandon(reason: Error): void;
}

/** A request's place: its age, its conversation, and what it waits for. */
export class PacedTurn implements Turn, Speaker {
  /** Start tag of the first grant: a retry stands where the request stood. */
  tag: number | undefined;
  left = false;
  /** First of its conversation, or in none. */
  speaking = true;
  /** Counted as a request without a permit. */
  counted = false;
  wait: TurnWait | undefined;
  readonly identity: CallIdentity;
  /** Nothing is granted after it. */
  deadline: Milliseconds;

  constructor(
    private readonly desk: TurnDesk,
    { identity, deadline }: LimiterCall,
    readonly member: Member,
    /** Order of arrival. */
    readonly age: number,
  ) {
    this.identity = identity;
    this.deadline = deadline;
  }

  /** It asks for a permit: from the first time on, its longest wait is counted. */
  begin(now: Milliseconds): void {
    this.deadline = Math.min(this.deadline, now + this.desk.maxWaitMs);
  }

  /** A permit was granted at this start tag. */
  served(tag: number): void {
    if (this.tag === undefined || tag < this.tag) this.tag = tag;
  }

  acquire(ask: Ask, signal?: AbortSignal): Promise<Permit> {
    return this.desk.acquire(this, ask, signal);
  }

  leave(): void {
    if (!this.left) this.desk.leave(this);
  }

  speak(): void {
    this.speaking = true;
    this.wait?.proceed();
  }
}
