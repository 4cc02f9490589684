import { abortReason, type Clock, type Milliseconds, type Target, type Timers } from '@weir/kernel';
import { AbortWatch } from './abort-watch.js';
import { Alarm } from './alarm.js';
import type { HoldTimes } from './hold-times.js';
import type { Leases } from './leases.js';
import { isCost, type Charge, type Entry, type Ledger } from './ledger/ledger.js';
import type { Ask, Permit } from './limiter.js';
import type { Grant } from './permit.js';
import { Prospects } from './prospects.js';
import { Awaited } from './queue/awaited.js';
import { FairQueue } from './queue/fair-queue.js';
import type { Flow } from './queue/flow.js';
import { GrantPass } from './queue/grant-pass.js';
import { Reservations } from './queue/reservations.js';
import { WaitingLine } from './queue/waiting-line.js';
import { draining, notACost } from './refusals.js';
import type { Member, Teams } from './teams.js';
import type { PacedTurn } from './turn.js';
import { Waiter, type WaitDesk } from './waiter.js';

/** What the dispatcher works with. */
export interface DispatcherParts {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly holds: HoldTimes;
  readonly leases: Leases;
  readonly teams: Teams;
  /** Makes the permit of a grant. */
  readonly issue: (grant: Grant) => Permit;
}

/**
 * The loop that grants. It looks again when something has changed (a newcomer, an ending, a limit) and when its one
 * timer rings; each look grants everything that is due, so a late timer loses no rate. Nothing is polled.
 */
export class Dispatcher implements WaitDesk {
  readonly queues = new Map<string, FairQueue>();
  waiting = 0;
  draining = false;
  readonly prospects: Prospects;
  private readonly watch = new AbortWatch();
  private readonly reservations = new Reservations();
  private readonly deadlines = new WaitingLine<Waiter>((a, b) => a.deadline < b.deadline);
  private readonly awaited = new Awaited();
  private readonly passes = new GrantPass(this.reservations, this.awaited);
  private readonly alarm: Alarm;
  /** When the last look expected that something could be granted next. */
  private nextLook: Milliseconds = Infinity;

  constructor(private readonly parts: DispatcherParts) {
    this.prospects = new Prospects(this.reservations, parts.holds, (target) => this.queue(target));
    this.alarm = new Alarm(parts.clock, parts.timers, (now) => {
      this.look(now);
    });
  }

  /** The flow of a team for a target. */
  flow(target: Target, member: Member): Flow {
    const { recent } = member;
    if (recent && isSame(recent.model.target, target)) return recent;
    const flow = this.queue(target).flow(target, member, () => this.parts.ledger.vector(target, member.id));
    member.recent = flow;
    return flow;
  }

  /** A permit now, or a wait in the order. */
  acquire(turn: PacedTurn, ask: Ask, signal: AbortSignal | undefined): Promise<Permit> {
    if (signal?.aborted) return Promise.reject(abortReason(signal));
    if (!isCost(ask.cost)) return Promise.reject(notACost(ask.cost));
    if (turn.left || turn.wait)
      return Promise.reject(new Error('A turn acquires one permit at a time, until it leaves.'));
    if (this.draining) return Promise.reject(draining());
    const flow = this.flow(ask.target, turn.member);
    const now = this.parts.clock.now();
    turn.begin(now);
    if (turn.speaking && this.waiting === 0 && now <= turn.deadline) {
      const entry = this.parts.ledger.admit(flow.vector, ask.cost, now);
      if (entry !== undefined)
        return Promise.resolve(this.grantIdle(turn, flow, entry, { target: ask.target, now }));
    }
    return new Promise((end) => {
      this.wait(new Waiter(turn, flow, ask, { desk: this, signal, askedAt: now, end }), now);
    });
  }

  /** A waiter's conversation lets it go on, if there is still time for it. */
  proceed(waiter: Waiter): void {
    const now = this.parts.clock.now();
    const refusal = this.prospects.notInTime(waiter, now);
    if (refusal) this.dismiss(waiter, refusal);
    else this.enterOrder(waiter, now);
    this.arm();
  }

  /** The order lets a waiter go on. */
  grant(waiter: Waiter, now: Milliseconds): boolean {
    const { turn, flow } = waiter;
    const entry = this.parts.ledger.admit(flow.vector, waiter.cost, now);
    if (entry === undefined) return false;
    this.reservations.release(waiter);
    const waited = now > waiter.eligibleAt;
    const queue = this.queue(flow.model.target);
    const boundBy = waited ? (waiter.boundBy ?? flow.model.boundBy ?? queue.boundBy) : undefined;
    const contested = queue.isContested(flow.model);
    if (contested) flow.spend(waiter.cost, now);
    turn.served(queue.serve(waiter));
    this.forget(waiter);
    const { target, share, eligibleAt, depthAtEntry } = waiter;
    waiter.granted(
      this.parts.issue({
        target,
        flow,
        entry,
        share,
        eligibleAt,
        grantedAt: now,
        boundBy,
        depthAtEntry,
        contested,
      }),
    );
    return true;
  }

  /** A waiter does not want to wait any more. */
  refuse(waiter: Waiter, reason: Error): void {
    const owner = waiter.flow.pinned === waiter;
    const now = this.parts.clock.now();
    this.dismiss(waiter, reason);
    // It may have been entitled to what others wait for. Many leave at once: one look is enough for all.
    if (this.passes.lends) this.nextLook = Math.min(this.nextLook, now);
    if (owner) this.look(now);
    else this.arm();
  }

  /** Refuses whoever waits, and everybody who comes. */
  drain(): void {
    this.draining = true;
    for (const waiter of this.deadlines.living()) this.dismiss(waiter, draining());
    this.arm();
  }

  /** Pauses or limits have changed: refuses those that have become hopeless, and looks at the others. */
  reconsider(now: Milliseconds): void {
    for (const waiter of this.deadlines.living()) {
      const reason = this.prospects.neverAnyMore(waiter, now);
      if (reason) this.dismiss(waiter, reason);
    }
    this.look(now);
  }

  /** A permit ended: a look is worth while where it gave back what somebody waits for, or where time did. */
  ended(entry: Entry, charge: Charge, now: Milliseconds): void {
    if (this.waiting > 0 && (now >= this.nextLook || this.passes.isHelpedBy(entry, charge, now)))
      this.look(now);
  }

  /** Grants everything that is due, in order. */
  look(now: Milliseconds): void {
    if (this.waiting > 0) this.parts.leases.reap(now);
    while (this.waiting > 0) {
      this.expire(now, false);
      this.nextLook = this.passes.run(this.queues, now);
      if (!this.expire(now, true)) break;
    }
    this.arm();
  }

  /** Time until something can be granted, at best. */
  nextGrantIn(now: Milliseconds): Milliseconds {
    return Math.max(0, this.nextLook - now);
  }

  private queue({ account }: Target): FairQueue {
    let queue = this.queues.get(account);
    if (queue === undefined) {
      queue = new FairQueue();
      this.queues.set(account, queue);
    }
    return queue;
  }

  private wait(waiter: Waiter, now: Milliseconds): void {
    const { turn } = waiter;
    const { prospects } = this;
    const refusal = prospects.neverAnyMore(waiter, now) ?? prospects.notInTime(waiter, now);
    if (refusal) {
      waiter.refused(refusal);
      return;
    }
    turn.wait = waiter;
    this.waiting += 1;
    this.parts.teams.count(turn);
    this.deadlines.push(waiter);
    if (turn.speaking) this.enterOrder(waiter, now);
    if (waiter.waiting) this.watch.add(waiter);
    this.arm();
  }

  private enterOrder(waiter: Waiter, now: Milliseconds): void {
    const queue = this.queue(waiter.target);
    waiter.eligible = true;
    waiter.eligibleAt = now;
    waiter.depthAtEntry = queue.waiting;
    queue.add(waiter);
    if (now < Math.min(this.nextLook, this.parts.leases.nextExpiry())) {
      this.nextLook = Math.min(this.nextLook, this.passes.offerNewcomer(waiter, queue, now));
      if (now < this.nextLook) return;
    }
    this.look(now);
  }

  private grantIdle(
    turn: PacedTurn,
    flow: Flow,
    entry: Entry,
    { target, now }: { readonly target: Target; readonly now: Milliseconds },
  ): Permit {
    const share = flow.model.shareOf(entry.cost);
    turn.served(this.queue(target).serveIdle(flow, share));
    this.parts.teams.uncount(turn);
    return this.parts.issue({
      target,
      flow,
      entry,
      share,
      eligibleAt: now,
      grantedAt: now,
      boundBy: undefined,
      depthAtEntry: 0,
      contested: false,
    });
  }

  private expire(now: Milliseconds, inclusive: boolean): boolean {
    let some = false;
    for (let first = this.deadlines.first(); first !== undefined; first = this.deadlines.first()) {
      if (inclusive ? first.deadline > now : first.deadline >= now) break;
      this.dismiss(first, this.prospects.tooLong(first, now));
      some = true;
    }
    return some;
  }

  private dismiss(waiter: Waiter, reason: Error): void {
    if (!waiter.waiting) return;
    this.reservations.release(waiter);
    if (waiter.eligible) this.queue(waiter.target).drop(waiter);
    // Whoever is next now was not looked at.
    this.awaited.addAll();
    this.forget(waiter);
    waiter.refused(reason);
  }

  private forget(waiter: Waiter): void {
    waiter.waiting = false;
    waiter.turn.wait = undefined;
    this.watch.remove(waiter);
    this.waiting -= 1;
    this.parts.teams.uncount(waiter.turn);
    this.deadlines.tidy(this.waiting);
  }

  private arm(): void {
    const deadline = this.deadlines.first()?.deadline;
    if (deadline === undefined) {
      this.nextLook = Infinity;
      this.alarm.clear();
    } else {
      this.alarm.set(Math.min(this.nextLook, deadline, this.parts.leases.nextExpiry()), deadline);
    }
  }
}

function isSame(one: Target, other: Target): boolean {
  return one.account === other.account && one.model === other.model;
}
