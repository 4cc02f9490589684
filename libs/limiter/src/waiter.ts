import type { Milliseconds, Priority, Target } from '@weir/kernel';
import type { Abortable } from './abort-watch.js';
import type { Ask, Cost, Permit } from './limiter.js';
import type { Flow } from './queue/flow.js';
import type { Ticket } from './queue/ticket.js';
import type { PacedTurn, TurnWait } from './turn.js';

/** Who decides about waiters. */
export interface WaitDesk {
  proceed(waiter: Waiter): void;
  grant(waiter: Waiter, now: Milliseconds): boolean;
  refuse(waiter: Waiter, reason: Error): void;
}

/** Under what somebody waits. */
export interface Wait {
  readonly desk: WaitDesk;
  readonly signal: AbortSignal | undefined;
  readonly askedAt: Milliseconds;
  /** Resolves the caller's promise. */
  readonly end: (outcome: Permit | Promise<never>) => void;
}

/** A ticket with somebody behind it who awaits a permit. */
export class Waiter implements Ticket<Flow>, Abortable, TurnWait {
  waiting = true;
  /** It lies in the fair order, and not behind somebody of its conversation. */
  eligible = false;
  eligibleAt: Milliseconds;
  depthAtEntry = 0;
  boundBy: string | undefined;
  readonly askedAt: Milliseconds;
  readonly signal: AbortSignal | undefined;
  private readonly desk: WaitDesk;
  readonly share: number;
  readonly priority: Priority;
  /** Ends the wait. One function for both ends, because every waiter pays for each. */
  private readonly end: Wait['end'];

  constructor(
    readonly turn: PacedTurn,
    readonly flow: Flow,
    private readonly ask: Ask,
    { desk, signal, askedAt, end }: Wait,
  ) {
    this.desk = desk;
    this.signal = signal;
    this.askedAt = askedAt;
    this.eligibleAt = askedAt;
    this.share = flow.model.shareOf(ask.cost);
    this.priority = turn.identity.priority;
    this.end = end;
  }

  get target(): Target {
    return this.ask.target;
  }

  get cost(): Cost {
    return this.ask.cost;
  }

  get age(): number {
    return this.turn.age;
  }

  get deadline(): Milliseconds {
    return this.turn.deadline;
  }

  get tag(): number {
    return this.turn.tag ?? Infinity;
  }

  granted(permit: Permit): void {
    this.end(permit);
  }

  refused(reason: Error): void {
    this.end(Promise.reject(reason));
  }

  proceed(): void {
    this.desk.proceed(this);
  }

  abandon(reason: Error): void {
    this.desk.refuse(this, reason);
  }

  grant(now: Milliseconds): boolean {
    return this.desk.grant(this, now);
  }
}
