import {
  GatewayError,
  type Clock,
  type Milliseconds,
  type Target,
  type Timer,
  type Timers,
} from '@weir/kernel';
import type { Limiter, Permit, Turn } from '@weir/limiter';
import { isThrottle } from '@weir/retry';
import type { ChatCall } from '../chat-call.js';
import { Course } from './course.js';
import { Favourites } from './favourites.js';
import { RoutedPermit, type PermitWatch } from './routed-permit.js';
import { RoutedWait, type Place, type WaitBoard } from './routed-wait.js';
import type { TargetHealth } from './target-health.js';
import { PATIENCE_MS, TargetChoice } from './target-choice.js';
import { circuitOpen } from './targets.js';
import { WaitingRoom, type Line } from './waiting-room.js';

/** What the router works with. */
export interface RouterParts {
  readonly limiter: Pick<Limiter, 'eta'>;
  readonly health: TargetHealth;
  readonly time: Clock & Timers;
}

/** How long room that nobody was told of may stay unseen. */
const LOOK_MS: Milliseconds = 25;
/** A wait that was moved stays at least this long; doubled with every move, so that nothing goes to and fro. */
const STAY_MS: Milliseconds = 250;

/**
 * Decides at which target a request waits, and lets it go elsewhere when that is better:
 * - trouble at an account (pause, open breaker, parked): the oldest go first, as long as another target is sooner;
 * - room at a target for which nobody waits: the oldest who wait elsewhere and may use it take it.
 * So the trouble of one account never delays what another can serve, and each queue stays in the limiter's fair order.
 */
export class Router implements WaitBoard, PermitWatch {
  readonly health: TargetHealth;
  private readonly room = new WaitingRoom();
  private readonly favourites = new Favourites();
  private readonly choice: TargetChoice;
  private readonly time: Clock & Timers;
  private alarm: { readonly at: Milliseconds; readonly timer: Timer } | undefined;

  constructor({ limiter, health, time }: RouterParts) {
    this.health = health;
    this.time = time;
    this.choice = new TargetChoice({
      limiter,
      health,
      favourites: this.favourites,
      clock: time,
      waiting: (target) => this.room.at(target),
    });
    health.onRecovery((target) => {
      this.relieve(target.account);
      this.look();
    });
  }

  /** The way of one request over its targets. */
  course(call: ChatCall, turn: Turn): Course {
    return new Course(call, turn, (target) => this.choice.isUsable(target));
  }

  /**
   * A permit at the target that can serve the request first, wherever that is by then.
   * @throws GatewayError `account_parked` | `circuit_open`, and what `Turn.acquire` throws
   */
  async acquire(course: Course, signal: AbortSignal): Promise<RoutedPermit> {
    for (;;) {
      const permit = await this.wait(course, signal);
      const passage = this.health.enter(permit.target);
      if (passage !== undefined) {
        course.at = permit.target;
        return new RoutedPermit(permit, passage, this);
      }
      // Granted in the instant in which the target was given up: nothing was sent, so everything comes back.
      permit.cancel();
    }
  }

  /** The answer began: its conversation stays there. */
  answered(course: Course, permit: RoutedPermit): void {
    const { target } = permit;
    const wasFit = this.health.fitness(target, this.time.now()).kind === 'fit';
    permit.answered();
    if (course.branches) this.favourites.remember(course.call.identity, target);
    // A probe that came good lets more through.
    if (!wasFit && this.room.movable > 0) this.look();
  }

  joined(wait: RoutedWait): Place {
    const place = this.room.enter(wait);
    if (wait.course.branches) this.lookBy(this.time.now() + LOOK_MS);
    return place;
  }

  left(wait: RoutedWait, place: Place): void {
    this.room.leave(place);
    if (this.room.movable === 0) this.forgetAlarm();
    else if (this.room.at(wait.target) === 0) this.lookBy(this.time.now() + LOOK_MS);
  }

  ended(target: Target, error?: GatewayError): void {
    if (error !== undefined && (isThrottle(error) || !this.choice.isUsable(target)))
      this.relieve(target.account);
    if (this.room.movable > 0 && this.room.at(target) === 0) this.look();
  }

  /** The answer of a permit broke after its head. */
  broke(permit: RoutedPermit, error: GatewayError): void {
    permit.broke(error);
    if (!this.choice.isUsable(permit.target)) this.relieve(permit.target.account);
  }

  private async wait(course: Course, signal: AbortSignal): Promise<Permit> {
    const wait = new RoutedWait(course, this.choice.choose(course), signal, this);
    if (wait.target === this.choice.favourite(course)) wait.staysUntil = this.time.now() + PATIENCE_MS;
    try {
      return await wait.promise;
    } catch (thrown) {
      throw this.explained(thrown, wait.target);
    }
  }

  /** A deadline that came while a breaker was open is the breaker's doing. */
  private explained(thrown: unknown, target: Target): unknown {
    if (!(thrown instanceof GatewayError) || thrown.code !== 'wait_exceeds_deadline') return thrown;
    const now = this.time.now();
    const fitness = this.health.fitness(target, now);
    if (fitness.kind === 'open') return circuitOpen(fitness.until - now);
    return fitness.kind === 'probing' ? circuitOpen(thrown.hintMs ?? 0) : thrown;
  }

  /** Something is wrong with an account: whoever waits for it chooses again, the oldest first. */
  private relieve(account: string): void {
    for (const line of this.room.all(account)) {
      for (const wait of line.waits) {
        const next = this.chosenAgain(wait);
        if (next === undefined) continue;
        if (next !== wait.target) wait.move(next);
        else if (this.choice.isUsable(next)) break;
      }
    }
  }

  private chosenAgain(wait: RoutedWait): Target | undefined {
    try {
      return this.choice.choose(wait.course);
    } catch (refusal) {
      if (!(refusal instanceof GatewayError)) throw refusal;
      wait.refuse(refusal);
      return undefined;
    }
  }

  /** Who waits elsewhere takes the room of targets for which nobody waits; looks again when there may be more. */
  private look(): void {
    const now = this.time.now();
    let next = Infinity;
    const isFree = new Map<Target, boolean>();
    const free = (target: Target): boolean => {
      let known = isFree.get(target);
      if (known === undefined) {
        known = this.room.at(target) === 0 && this.choice.isUsable(target, now);
        isFree.set(target, known);
      }
      return known;
    };
    for (const line of this.room.all()) next = Math.min(next, this.lookAt(line, free, now));
    this.forgetAlarm();
    if (this.room.movable > 0 && next < Infinity) this.lookBy(Math.max(next, now + LOOK_MS));
  }

  /** @returns when the oldest that stays may find room elsewhere */
  private lookAt({ waits }: Line, free: (target: Target) => boolean, now: Milliseconds): Milliseconds {
    for (const wait of waits) {
      const elsewhere = wait.course.insteadOf(wait.target).filter(free);
      const found = this.choice.soonest(wait.course, elsewhere);
      const at = Math.max(found?.at ?? Infinity, wait.staysUntil);
      if (found === undefined || at > now) return at;
      wait.staysUntil = now + STAY_MS * 2 ** wait.moves;
      wait.move(found.target);
    }
    return Infinity;
  }

  private lookBy(at: Milliseconds): void {
    if (this.alarm !== undefined && this.alarm.at <= at) return;
    this.forgetAlarm();
    const timer = this.time.after(at - this.time.now(), () => {
      this.alarm = undefined;
      this.look();
    });
    this.alarm = { at, timer };
  }

  private forgetAlarm(): void {
    this.alarm?.timer.cancel();
    this.alarm = undefined;
  }
}
