import type { Milliseconds } from '@weir/kernel';
import type { Ask, LimiterCall, Permit, Turn } from './limiter.js';
import type { Speaker } from './queue/conversations.js';
import type { Member } from './teams.js';

/** Where turns ask. */
export interface TurnDesk {
  acquire(turn: PacedTurn, ask: Ask, signal: AbortSignal): Promise<Permit>;
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
  /** Order of arrival. */
  readonly age: number;
  /** Nothing is granted after it. */
  readonly deadline: Milliseconds;

  constructor(
    private readonly desk: TurnDesk,
    readonly call: LimiterCall,
    readonly member: Member,
    { age, deadline }: { readonly age: number; readonly deadline: Milliseconds },
  ) {
    this.age = age;
    this.deadline = deadline;
  }

  acquire(ask: Ask, signal: AbortSignal): Promise<Permit> {
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
