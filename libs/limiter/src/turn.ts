import type { Milliseconds } from '@weir/kernel';
import type { Ask, LimiterCall, Permit, Turn } from './limiter.js';
import type { Speaker } from './queue/conversations.js';
import type { Member } from './teams.js';
import type { Waiter } from './waiter.js';

/** Where turns ask. */
export interface TurnDesk {
  acquire(turn: PacedTurn, ask: Ask, signal: AbortSignal): Promise<Permit>;
  /** A waiter's conversation lets it go on. */
  proceed(waiter: Waiter): void;
  /** The order lets a waiter go on. */
  grant(waiter: Waiter, now: Milliseconds): boolean;
  /** A waiter's signal was aborted. */
  refuse(waiter: Waiter, reason: Error): void;
  leave(turn: PacedTurn): void;
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
  waiter: Waiter | undefined;
  /** Order of arrival. */
  readonly age: number;
  /** Nothing is granted after it. */
  readonly deadline: Milliseconds;

  constructor(
    readonly desk: TurnDesk,
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
    if (this.waiter !== undefined) this.desk.proceed(this.waiter);
  }
}
