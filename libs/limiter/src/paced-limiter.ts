import type { CallIdentity, Clock, Milliseconds, Random, Target, Timers } from '@weir/kernel';
import { Dispatcher } from './dispatcher.js';
import { HoldTimes } from './hold-times.js';
import { Leases } from './leases.js';
import { restoreSnapshot, takeSnapshot, type LimiterSnapshot } from './limiter-snapshot.js';
import type { Ledger } from './ledger/ledger.js';
import type {
  Ask,
  Limiter,
  LimiterCall,
  LimiterStatus,
  Permit,
  QuotaObservation,
  QuotaView,
  Turn,
} from './limiter.js';
import { quotaView } from './quota-view.js';
import { Conversations } from './queue/conversations.js';
import type { Team } from './queue/flow.js';
import type { Dimension } from './quota/dimension.js';
import { draining, notADeadline, notALimit, queueFull } from './refusals.js';
import { Settlements } from './settlements.js';
import { dimensionStatus, flowStatuses } from './status.js';
import { Teams } from './teams.js';
import { Throttle } from './throttle.js';
import { PacedTurn, type TurnDesk } from './turn.js';

/** What a paced limiter is made of. */
export interface PacedLimiterParts {
  readonly ledger: Ledger;
  readonly teams: readonly Team[];
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly queue: QueueBounds;
  /** Accounts whose provider does not count rejected requests. Default: none; elsewhere it makes any limiter a no-op. */
  readonly refundRequestsOn429?: ReadonlySet<string>;
  /** After this long a permit that was not ended gives its slot back. Longer than any call. Default: 11 minutes. */
  readonly slotLeaseMs?: Milliseconds;
}

/** How much may wait, and how long. */
export interface QueueBounds {
  /** Longest wait of a request from its first acquire on, whatever its deadline says. */
  readonly maxWaitMs: Milliseconds;
  /** Most requests without a permit, in this process and of one team. */
  readonly maxDepth: number;
  readonly maxDepthPerTeam: number;
}

/** A minute more than the longest call that the gateway allows by default (`timeouts.totalMs`). */
const SLOT_LEASE_MS: Milliseconds = 660_000;

/**
 * A limiter that queues instead of failing: every attempt waits in a fair order until all of its dimensions have
 * room, and debits them together. It needs a clock, timers and a ledger, and nothing else of the process.
 */
export class PacedLimiter implements Limiter {
  private readonly teams: Teams;
  private readonly conversations = new Conversations();
  private readonly holds = new HoldTimes();
  private readonly leases: Leases;
  private readonly dispatcher: Dispatcher;
  private readonly settlements: Settlements;
  /** What turns may ask for. */
  private readonly desk: TurnDesk;
  private age = 0;

  constructor(private readonly parts: PacedLimiterParts) {
    const { ledger, clock, timers, random, refundRequestsOn429 = new Set() } = parts;
    const { holds } = this;
    const leases = new Leases(parts.slotLeaseMs ?? SLOT_LEASE_MS);
    this.leases = leases;
    this.teams = new Teams(parts.teams);
    this.dispatcher = new Dispatcher({
      ledger,
      clock,
      timers,
      holds,
      leases,
      teams: this.teams,
      issue: (grant): Permit => this.settlements.issue(grant),
    });
    const throttle = new Throttle(random);
    this.settlements = new Settlements({
      ledger,
      clock,
      dispatcher: this.dispatcher,
      throttle,
      holds,
      leases,
      refundRequestsOn429,
    });
    this.desk = {
      maxWaitMs: parts.queue.maxWaitMs,
      acquire: (turn, ask, signal) => this.dispatcher.acquire(turn, ask, signal),
      leave: (turn) => {
        this.leave(turn);
      },
    };
  }

  enter(call: LimiterCall): Turn {
    if (this.dispatcher.draining) throw draining();
    if (Number.isNaN(call.deadline)) throw notADeadline();
    const { team, conversation } = call.identity;
    const member = this.teams.of(team);
    const { maxDepth, maxDepthPerTeam } = this.parts.queue;
    if (this.teams.depth >= maxDepth) throw this.full('The gateway', this.teams.depth);
    if (member.depth >= maxDepthPerTeam) throw this.full('The team', member.depth);
    this.age += 1;
    const turn = new PacedTurn(this.desk, call, member, this.age);
    this.teams.count(turn);
    if (conversation !== undefined) turn.speaking = this.conversations.join(keyOf(team, conversation), turn);
    return turn;
  }

  eta(call: CallIdentity, ask: Ask): Milliseconds {
    const flow = this.dispatcher.flow(ask.target, this.teams.of(call.team));
    return this.dispatcher.prospects.expectation(flow, call.priority, ask.cost, this.now()).at;
  }

  quota(call: CallIdentity, target: Target): QuotaView {
    const { vector } = this.dispatcher.flow(target, this.teams.of(call.team));
    return quotaView(vector, this.now());
  }

  observe(target: Target, { limitRequests, limitTokens }: QuotaObservation): void {
    if (limitRequests !== undefined) this.adopt(target, 'requests', limitRequests);
    if (limitTokens !== undefined) this.adopt(target, 'tokens', limitTokens);
  }

  setLimit(id: string, limit: number): boolean {
    if (!(limit >= 0)) throw notALimit(limit);
    const dimension = this.parts.ledger.dimension(id);
    if (dimension) this.change(dimension, limit);
    return dimension !== undefined;
  }

  status(): LimiterStatus {
    const now = this.now();
    const queues = [...this.dispatcher.queues.values()];
    return {
      waiting: this.dispatcher.waiting,
      open: this.settlements.open,
      draining: this.dispatcher.draining,
      leaked: this.leases.leaked,
      dimensions: [...this.parts.ledger.dimensions].map((dimension) => dimensionStatus(dimension, now)),
      flows: queues.flatMap((queue) => flowStatuses(queue, now, this.holds.mean)),
    };
  }

  drain(): void {
    this.dispatcher.drain();
  }

  /** What the next process should know. Take it after `drain`, when the last permit has ended. */
  snapshot(): LimiterSnapshot {
    return takeSnapshot(this.parts.ledger, this.parts.clock);
  }

  /** Continues where the last process ended, instead of supposing that a whole window was spent. Before the first call. */
  restore(snapshot: LimiterSnapshot): void {
    restoreSnapshot(this.parts.ledger, this.parts.clock, snapshot);
  }

  /** The present, for whoever asks: slots whose lease ran out are free, also while nobody waits for them. */
  private now(): Milliseconds {
    const now = this.parts.clock.now();
    this.leases.reap(now);
    return now;
  }

  private leave(turn: PacedTurn): void {
    turn.left = true;
    this.teams.uncount(turn);
    turn.wait?.abandon(new Error('The turn was left while it waited.'));
    const { team, conversation } = turn.identity;
    if (conversation !== undefined) this.conversations.leave(keyOf(team, conversation), turn);
  }

  /** A limit that the provider states wins over ours, in both directions; the model's own comes before the account's. */
  private adopt(target: Target, unit: 'requests' | 'tokens', limit: number): void {
    const stated = [...this.parts.ledger.dimensions].filter(
      ({ spec, limit: ours }) =>
        spec.unit === unit &&
        spec.account === target.account &&
        (spec.scope === 'account' || spec.model === target.model) &&
        // What a person stopped (0) or freed stays so.
        ours !== Infinity &&
        ours !== 0,
    );
    // Headers show one of the two; where it is the account's, it says nothing of the model's.
    if (stated.some((dimension) => dimension.limit === limit)) return;
    const dimension = stated.find(({ spec }) => spec.scope === 'model') ?? stated[0];
    if (dimension && limit > 0) this.change(dimension, limit);
  }

  private change(dimension: Dimension, limit: number): void {
    const now = this.parts.clock.now();
    dimension.setLimit(limit, now);
    for (const { models } of this.dispatcher.queues.values()) {
      for (const model of models.values()) model.remeasure();
    }
    this.dispatcher.reconsider(now);
  }

  private full(whose: string, depth: number): Error {
    return queueFull(whose, depth, this.dispatcher.nextGrantIn(this.parts.clock.now()));
  }
}

/** Conversations belong to a team: two teams may use the same id. */
function keyOf(team: string, conversation: string): string {
  return JSON.stringify([team, conversation]);
}
