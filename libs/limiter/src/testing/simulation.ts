import {
  GatewayError,
  toGatewayError,
  type FailureClass,
  type Milliseconds,
  type Priority,
} from '@weir/kernel';
import { FakeClock } from '@weir/testing';
import type { Ending, Limiter, Permit, Turn } from '../limiter.js';
import { Heap } from '../queue/heap.js';

/** How one attempt goes on after its grant. */
export type Outcome =
  | {
      readonly kind: 'settle';
      readonly afterMs: Milliseconds;
      readonly input?: number;
      readonly output?: number;
    }
  | {
      readonly kind: 'fail';
      readonly afterMs: Milliseconds;
      readonly failure: FailureClass;
      readonly hintMs?: Milliseconds;
    }
  | { readonly kind: 'cancel'; readonly afterMs: Milliseconds }
  | { readonly kind: 'leak' };

/** One request of a run, with everything that happens to it. */
export interface Wish {
  readonly at: Milliseconds;
  readonly team: string;
  readonly model: string;
  readonly priority?: Priority;
  readonly conversation?: string;
  readonly input: number;
  readonly output: number;
  readonly patienceMs: Milliseconds;
  /** It goes away by itself this long after it came, if it still waits. */
  readonly leavesAfterMs?: Milliseconds;
  /** Of its attempts, in order; after the last it leaves. */
  readonly outcomes: readonly Outcome[];
}

/** What was seen. */
export type Sight =
  | {
      readonly kind: 'granted';
      readonly at: Milliseconds;
      readonly wish: Wish;
      readonly permit: Permit;
      readonly attempt: number;
    }
  | {
      readonly kind: 'refused';
      readonly at: Milliseconds;
      readonly wish: Wish;
      readonly error: GatewayError;
      readonly askedAt: Milliseconds;
    }
  | {
      readonly kind: 'ended';
      readonly at: Milliseconds;
      readonly wish: Wish;
      readonly permit: Permit;
      readonly ending: Ending;
    }
  | { readonly kind: 'left'; readonly at: Milliseconds; readonly wish: Wish };

const CANCELLED: Outcome = { kind: 'cancel', afterMs: 0 };

interface Appointment {
  readonly at: Milliseconds;
  readonly order: number;
  readonly act: () => void;
}

/** Requests against a limiter in virtual time: events in order, promises between them, an observer after each. */
export class Simulation {
  readonly clock = new FakeClock(10_000);
  readonly limiter: Limiter;
  readonly sights: Sight[] = [];
  /** Times at which the limiter's own timer rang. */
  rings = 0;
  /** Decides instead of the wishes' own outcomes; then a failed attempt is always tried again. */
  provider: ((wish: Wish, at: Milliseconds) => Outcome) | undefined;
  /** Told before and after each ending, in the same instant. */
  beforeEnd: ((permit: Permit, outcome: Outcome) => void) | undefined;
  afterEnd: ((permit: Permit, outcome: Outcome) => void) | undefined;
  private readonly agenda = new Heap<Appointment>(
    (a, b) => a.at < b.at || (a.at === b.at && a.order < b.order),
  );
  private order = 0;

  constructor(make: (clock: FakeClock) => Limiter) {
    this.limiter = make(this.clock);
  }

  get granted(): Extract<Sight, { kind: 'granted' }>[] {
    return this.sights.filter((sight) => sight.kind === 'granted');
  }

  get refused(): Extract<Sight, { kind: 'refused' }>[] {
    return this.sights.filter((sight) => sight.kind === 'refused');
  }

  get ended(): Extract<Sight, { kind: 'ended' }>[] {
    return this.sights.filter((sight) => sight.kind === 'ended');
  }

  /** Something happens at a time counted from the start. */
  at(offsetMs: Milliseconds, act: () => void): void {
    this.order += 1;
    this.agenda.push({ at: 10_000 + offsetMs, order: this.order, act });
  }

  add(wishes: readonly Wish[]): void {
    for (const wish of wishes) {
      this.at(wish.at, () => {
        this.enter(wish);
      });
    }
  }

  /** Runs until nothing is left to happen, or to a time. */
  async run({
    until = Infinity,
    after,
  }: { readonly until?: Milliseconds; readonly after?: () => void } = {}): Promise<void> {
    for (;;) {
      const next = this.agenda.peek();
      const ringAt = this.clock.nextAt ?? Infinity;
      const at = Math.min(next?.at ?? Infinity, ringAt);
      if (at === Infinity || at > 10_000 + until) return;
      if (next === undefined || ringAt <= next.at) {
        this.rings += 1;
        this.clock.advanceSync(ringAt - this.clock.now());
      } else {
        this.clock.advanceSync(next.at - this.clock.now());
        this.agenda.pop();
        next.act();
      }
      await microtasks();
      after?.();
    }
  }

  private enter(wish: Wish): void {
    let turn: Turn;
    const now = this.clock.now();
    try {
      turn = this.limiter.enter({
        identity: {
          requestId: 'r',
          team: wish.team,
          model: wish.model,
          operation: 'chat',
          template: 'none',
          priority: wish.priority ?? 'normal',
          ...(wish.conversation === undefined ? {} : { conversation: wish.conversation }),
        },
        deadline: now + wish.patienceMs,
      });
    } catch (thrown) {
      this.sights.push({ kind: 'refused', at: now, wish, error: toGatewayError(thrown), askedAt: now });
      return;
    }
    this.attempt(wish, turn, 0);
  }

  private attempt(wish: Wish, turn: Turn, attempt: number): void {
    const controller = new AbortController();
    const askedAt = this.clock.now();
    if (wish.leavesAfterMs !== undefined) {
      this.later(wish.leavesAfterMs, () => {
        controller.abort(new Error('gone'));
      });
    }
    const cost = { inputTokens: wish.input, outputTokens: wish.output };
    const ask = { target: { account: 'main', model: wish.model }, cost };
    turn.acquire(ask, controller.signal).then(
      (permit) => {
        this.sights.push({ kind: 'granted', at: this.clock.now(), wish, permit, attempt });
        this.carryOut(wish, turn, permit, attempt);
      },
      (thrown: unknown) => {
        const at = this.clock.now();
        if (controller.signal.aborted) this.sights.push({ kind: 'left', at, wish });
        else this.sights.push({ kind: 'refused', at, wish, error: toGatewayError(thrown), askedAt });
        turn.leave();
      },
    );
  }

  private carryOut(wish: Wish, turn: Turn, permit: Permit, attempt: number): void {
    const outcome = this.provider?.(wish, this.clock.now()) ?? wish.outcomes[attempt] ?? CANCELLED;
    if (outcome.kind === 'leak') return;
    if (outcome.kind !== 'cancel') permit.sent();
    this.later(outcome.afterMs, () => {
      this.beforeEnd?.(permit, outcome);
      const ending = end(permit, outcome);
      this.afterEnd?.(permit, outcome);
      this.sights.push({ kind: 'ended', at: this.clock.now(), wish, permit, ending });
      if (outcome.kind === 'fail' && (this.provider || attempt + 1 < wish.outcomes.length))
        this.attempt(wish, turn, attempt + 1);
      else turn.leave();
    });
  }

  private later(delayMs: Milliseconds, act: () => void): void {
    this.at(this.clock.now() - 10_000 + delayMs, act);
  }
}

function end(permit: Permit, outcome: Exclude<Outcome, { kind: 'leak' }>): Ending {
  if (outcome.kind === 'cancel') return permit.cancel();
  if (outcome.kind === 'settle')
    return permit.settle({ inputTokens: outcome.input, outputTokens: outcome.output });
  return permit.fail(
    new GatewayError('upstream_rate_limited', 'no', {
      origin: 'provider',
      failure: outcome.failure,
      sent: true,
      ...(outcome.hintMs === undefined ? {} : { hintMs: outcome.hintMs }),
    }),
  );
}

/** Enough for a grant to be seen, and for the refusal of one that waits for another to leave. */
async function microtasks(): Promise<void> {
  for (let i = 0; i < 8; i += 1) await Promise.resolve();
}
