import type { Milliseconds } from '@weir/kernel';
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
  tag = Infinity;
  left = false;
  /** First of its conversation, or in none. */
  speaking = true;
  /** Counted as a request without a permit. */
  counted = false;
  wait: TurnWait | undefined;
  /** Nothing is granted after it. */
  deadline: Milliseconds;

  /** @param age order of arrival */
  constructor(
    private readonly desk: TurnDesk,
    readonly call: LimiterCall,
    readonly member: Member,
    readonly age: number,
  ) {
    this.deadline = call.deadline;
  }

  /** It asks for a permit: from the first time on, its longest wait is counted. */
  begin(now: Milliseconds): void {
    this.deadline = Math.min(this.deadline, now + this.desk.maxWaitMs);
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
