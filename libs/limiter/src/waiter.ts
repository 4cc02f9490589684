import { abortReason, type Milliseconds, type Priority, type Target } from '@weir/kernel';
import type { Ask, Cost, Permit } from './limiter.js';
import type { Flow } from './queue/flow.js';
import type { Ticket } from './queue/ticket.js';
import type { PacedTurn } from './turn.js';

/** A ticket with somebody behind it who awaits a permit. */
export class Waiter implements Ticket {
  waiting = true;
  /** It lies in the fair order, and not behind somebody of its conversation. */
  eligible = false;
  eligibleAt: Milliseconds = 0;
  depthAtEntry = 0;
  boundBy: string | undefined;
  readonly target: Target;
  readonly cost: Cost;
  readonly share: number;
  readonly promise: Promise<Permit>;
  private readonly resolve: (permit: Permit) => void;
  private readonly reject: (reason: Error) => void;

  constructor(
    readonly turn: PacedTurn,
    readonly flow: Flow,
    ask: Ask,
    private readonly wish: { readonly signal: AbortSignal; readonly askedAt: Milliseconds },
  ) {
    this.target = ask.target;
    this.cost = ask.cost;
    this.share = flow.model.shareOf(ask.cost);
    const { promise, resolve, reject } = Promise.withResolvers<Permit>();
    this.promise = promise;
    this.resolve = resolve;
    this.reject = reject;
  }

  /** Begins to wait: the signal may end it from now on. */
  listen(): void {
    this.wish.signal.addEventListener('abort', this);
  }

  get askedAt(): Milliseconds {
    return this.wish.askedAt;
  }

  get age(): number {
    return this.turn.at.age;
  }

  get deadline(): Milliseconds {
    return this.turn.at.deadline;
  }

  get tag(): number {
    return this.turn.tag;
  }

  get priority(): Priority {
    return this.turn.call.identity.priority;
  }

  /** The signal that it waits under was aborted. */
  handleEvent(): void {
    this.turn.desk.refuse(this, abortReason(this.wish.signal));
  }

  grant(now: Milliseconds): boolean {
    return this.turn.desk.grant(this, now);
  }

  granted(permit: Permit): void {
    this.wish.signal.removeEventListener('abort', this);
    this.resolve(permit);
  }

  refused(reason: Error): void {
    this.wish.signal.removeEventListener('abort', this);
    this.reject(reason);
  }
}
