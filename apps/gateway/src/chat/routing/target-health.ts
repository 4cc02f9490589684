import type { BreakerConfig } from '@weir/config';
import type {
  Clock,
  EpochMilliseconds,
  GatewayError,
  Milliseconds,
  Random,
  Target,
  Timer,
  Timers,
} from '@weir/kernel';
import type { Limiter } from '@weir/limiter';
import {
  AdaptiveSlots,
  CircuitBreaker,
  isBreakdown,
  isOverload,
  ParkingLot,
  type BreakerState,
  type Parked,
  type Passage,
} from '@weir/retry';
import type { Logger } from '@weir/telemetry';
import { keyOf } from './targets.js';

/** Whether a target may be called, and from when. */
export type Fitness =
  | { readonly kind: 'fit' }
  /** Its breaker is half-open and lets this many more through. */
  | { readonly kind: 'probing'; readonly room: number }
  | { readonly kind: 'open'; readonly until: Milliseconds }
  | { readonly kind: 'parked'; readonly until: Milliseconds };

/** One model of one account, for people. */
export interface BreakerStatus extends Target {
  readonly state: BreakerState['kind'];
  /** When the next probe may go; absent unless open. Epoch milliseconds. */
  readonly until?: EpochMilliseconds;
}

/** A credential that is not called, for people. */
export interface ParkedStatus {
  readonly account: string;
  readonly model?: string;
  readonly reason: Parked['reason'];
  /** Absent: until a person acts (reload or restart). Epoch milliseconds. */
  readonly until?: EpochMilliseconds;
}

/** What the configuration says of targets. */
export interface HealthRules {
  readonly breaker: BreakerConfig;
  readonly targets: readonly Target[];
  /** Calls at a time that are configured for an account; undefined where it has no such limit. */
  concurrency(account: string): number | undefined;
  /** Changes with every reload, by which a person un-parks. */
  version(): unknown;
}

/** What health works with. */
export interface HealthParts {
  readonly rules: HealthRules;
  readonly limiter: Pick<Limiter, 'setLimit'>;
  readonly time: Clock & Timers;
  readonly random: Random;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

/** The limiter's dimension that a breaker drives: whoever waits keeps its place and its age while it is shut. */
export function breakerDimension(target: Target): string {
  return `${GATE}${keyOf(target)}`;
}

/** Whether an id is that of a breaker's dimension. */
export function isBreakerDimension(id: string): boolean {
  return id.startsWith(GATE);
}

const GATE = 'breaker:';

interface Watched {
  readonly target: Target;
  readonly breaker: CircuitBreaker;
  slots: number;
  timer: Timer | undefined;
}

const FIT: Fitness = { kind: 'fit' };

/**
 * Which targets may be called: breakers, parked accounts and adapted slots, fed by what attempts met, and turned into
 * limits of the limiter. 429s never touch a breaker: the limiter's pauses are for them.
 */
export class TargetHealth {
  private readonly watched: ReadonlyMap<string, Watched>;
  private readonly slots = new Map<string, AdaptiveSlots>();
  private readonly lot = new ParkingLot();
  private version: unknown;
  private recovered: (target: Target) => void = () => undefined;

  constructor(private readonly parts: HealthParts) {
    const { rules, random } = parts;
    this.version = rules.version();
    this.watched = new Map(
      rules.targets.map((target) => [
        keyOf(target),
        { target, breaker: new CircuitBreaker(rules.breaker, random), slots: Infinity, timer: undefined },
      ]),
    );
  }

  /** @param recovered called when time alone lets a target be called again */
  onRecovery(recovered: (target: Target) => void): void {
    this.recovered = recovered;
  }

  /** Whether a target may be called now. */
  fitness(target: Target, now: Milliseconds): Fitness {
    const parked = this.parked().of(target, now);
    if (parked) return { kind: 'parked', until: parked.until };
    const breaker = this.watched.get(keyOf(target))?.breaker;
    if (breaker === undefined || breaker.state.kind === 'closed') return FIT;
    const { state } = breaker;
    return state.kind === 'open'
      ? { kind: 'open', until: state.until }
      : { kind: 'probing', room: state.probes - state.admitted };
  }

  /** A permit was granted. @returns undefined where the target may not be called any more */
  enter(target: Target): Passage | undefined {
    if (this.parked().of(target, this.now())) return undefined;
    const breaker = this.watched.get(keyOf(target))?.breaker;
    return breaker?.admits === false
      ? undefined
      : (breaker?.enter() ?? { era: 0, round: 0, verdict: 'none' });
  }

  /** The answer began. */
  answered(target: Target, passage: Passage): void {
    const now = this.now();
    this.lot.succeeded(target);
    this.adapt(target.account, (slots) => {
      slots.answered(now);
    });
    this.judge(target, (breaker) => {
      breaker.succeeded(passage, now);
    });
  }

  /** The attempt failed, before or after its answer began. */
  failed(target: Target, passage: Passage, error: GatewayError): void {
    const now = this.now();
    const parked = this.lot.failed(target, error, now);
    if (parked) this.parts.logger.warn('parked', { ...this.parkedStatus(parked, now) });
    if (isOverload(error))
      this.adapt(target.account, (slots) => {
        slots.overloaded(now);
      });
    if (isBreakdown(error))
      this.judge(target, (breaker) => {
        breaker.failed(passage, now);
      });
  }

  /** The attempt is over, and its permit is about to be. */
  left(target: Target, passage: Passage): void {
    this.judge(target, (breaker) => {
      breaker.leave(passage);
    });
  }

  /** How every configured target stands. */
  breakers(): readonly BreakerStatus[] {
    return [...this.watched.values()].map(({ target, breaker: { state } }) => ({
      ...target,
      state: state.kind,
      ...(state.kind === 'open' ? { until: this.epochOf(state.until) } : {}),
    }));
  }

  /** Everything that is parked now. */
  parkedAccounts(): readonly ParkedStatus[] {
    const now = this.now();
    return this.parked()
      .list(now)
      .map((parked) => this.parkedStatus(parked, now));
  }

  /** Stops every timer: the process ends. */
  close(): void {
    for (const watched of this.watched.values()) watched.timer?.cancel();
  }

  /** A reload is a person's act. */
  private parked(): ParkingLot {
    const version = this.parts.rules.version();
    if (version !== this.version) this.lot.clear();
    this.version = version;
    return this.lot;
  }

  private judge(target: Target, change: (breaker: CircuitBreaker) => void): void {
    const watched = this.watched.get(keyOf(target));
    if (watched === undefined) return;
    const before = watched.breaker.state.kind;
    change(watched.breaker);
    this.follow(watched, before);
  }

  /** Turns a breaker's state into a limit, a timer and a line in the log. */
  private follow(watched: Watched, before: BreakerState['kind']): void {
    const { target, breaker } = watched;
    const { state, slots } = breaker;
    if (slots !== watched.slots) {
      watched.slots = slots;
      this.parts.limiter.setLimit(breakerDimension(target), slots);
    }
    if (state.kind === before) return;
    if (state.kind === 'open') this.wakeAt(watched, state.until);
    const { account, model } = target;
    this.parts.logger[state.kind === 'open' ? 'warn' : 'info']('breaker', {
      account,
      model,
      state: state.kind,
    });
  }

  private wakeAt(watched: Watched, until: Milliseconds): void {
    watched.timer?.cancel();
    watched.timer = this.parts.time.after(Math.max(0, until - this.now()), () => {
      this.judge(watched.target, (breaker) => {
        breaker.wake(until);
      });
      this.recovered(watched.target);
    });
  }

  private adapt(account: string, change: (slots: AdaptiveSlots) => void): void {
    const slots = this.slotsOf(account);
    if (slots === undefined) return;
    const before = slots.limit;
    change(slots);
    if (slots.limit !== before) this.parts.limiter.setLimit(`account:${account}:slots`, slots.limit);
  }

  private slotsOf(account: string): AdaptiveSlots | undefined {
    const { rules } = this.parts;
    const configured = rules.concurrency(account);
    if (configured === undefined) return undefined;
    let slots = this.slots.get(account);
    if (slots === undefined) {
      slots = new AdaptiveSlots(() => rules.concurrency(account) ?? configured, rules.breaker.windowMs);
      this.slots.set(account, slots);
    }
    return slots;
  }

  private parkedStatus({ account, model, reason, until }: Parked, now: Milliseconds): ParkedStatus {
    return {
      account,
      ...(model === undefined ? {} : { model }),
      reason,
      ...(Number.isFinite(until) ? { until: this.epochOf(until, now) } : {}),
    };
  }

  private epochOf(at: Milliseconds, now = this.now()): EpochMilliseconds {
    return Math.round(this.parts.time.epochNow() + at - now);
  }

  private now(): Milliseconds {
    return this.parts.time.now();
  }
}
