import type { Clock, Milliseconds, Target } from '@weir/kernel';
import type { Limiter } from '@weir/limiter';
import type { Course, Rank } from './course.js';
import type { Favourites } from './favourites.js';
import type { Fitness, TargetHealth } from './target-health.js';
import { accountParked, circuitOpen } from './targets.js';

/** A conversation waits this much longer for the target that it knows: a warm cache is worth seconds, not minutes. */
export const PATIENCE_MS: Milliseconds = 5_000;

/** What a choice is made from. */
export interface ChoiceParts {
  readonly limiter: Pick<Limiter, 'eta'>;
  readonly health: TargetHealth;
  readonly favourites: Favourites;
  readonly clock: Clock;
  /** How many requests wait for a target. */
  readonly waiting: (target: Target) => number;
}

interface Option {
  readonly target: Target;
  /** When the attempt would be granted. */
  readonly at: Milliseconds;
}

/** Where the next attempt of a request goes. */
export class TargetChoice {
  constructor(private readonly parts: ChoiceParts) {}

  /**
   * Of the first rank that can serve in time, the target that takes the request first; a breaker that wants to probe
   * comes before, or it would never learn that its target is well again. Where none can serve in time: the one that
   * would be too late (the limiter says how late), else the breaker that probes first.
   * @throws GatewayError `account_parked` | `circuit_open`
   */
  choose(course: Course): Target {
    const now = this.parts.clock.now();
    let late: Target | undefined;
    for (const rank of course.ranks) {
      const usable = course.fresh(rank.filter((target) => this.isUsable(target, now)));
      const best = usable.find((target) => this.wantsProbe(target, now)) ?? this.nearest(course, usable);
      if (best === undefined) continue;
      if (!course.branches || this.at(course, best) <= course.call.deadline) return best;
      late ??= best;
    }
    return late ?? this.soonestProbe(course, now);
  }

  /** Of `targets`, the one that takes the request first. */
  soonest(course: Course, targets: readonly Target[]): Option | undefined {
    let best: Option | undefined;
    for (const target of targets) {
      const at = this.at(course, target);
      if (best === undefined || at < best.at) best = { target, at };
    }
    return best;
  }

  /** Whether a target may be called now. */
  isUsable(target: Target, now = this.parts.clock.now()): boolean {
    const fitness = this.parts.health.fitness(target, now);
    return fitness.kind === 'fit' || this.hasRoom(target, fitness);
  }

  /** Where the conversation was answered last. */
  favourite({ call }: Course): Target | undefined {
    return this.parts.favourites.of(call.identity);
  }

  private nearest(course: Course, targets: Rank): Target | undefined {
    if (targets.length < 2) return targets[0];
    const best = this.soonest(course, targets);
    const favourite = this.favourite(course);
    if (best === undefined || favourite === undefined || !targets.includes(favourite)) return best?.target;
    return this.at(course, favourite) <= best.at + PATIENCE_MS ? favourite : best.target;
  }

  private at({ call }: Course, target: Target): Milliseconds {
    return this.parts.limiter.eta(call.identity, { target, cost: call.cost });
  }

  private wantsProbe(target: Target, now: Milliseconds): boolean {
    return this.hasRoom(target, this.parts.health.fitness(target, now));
  }

  private hasRoom(target: Target, fitness: Fitness): boolean {
    return fitness.kind === 'probing' && fitness.room > this.parts.waiting(target);
  }

  /** Everything is parked or left alone: waits for the next probe, if it comes in time. */
  private soonestProbe(course: Course, now: Milliseconds): Target {
    let probe: Option | undefined;
    let parkedUntil = Infinity;
    for (const target of course.ranks.flat()) {
      const fitness = this.parts.health.fitness(target, now);
      if (fitness.kind === 'parked') parkedUntil = Math.min(parkedUntil, fitness.until);
      else {
        const at = fitness.kind === 'open' ? fitness.until : now;
        if (probe === undefined || at < probe.at) probe = { target, at };
      }
    }
    if (probe === undefined) throw accountParked(parkedUntil - now);
    if (probe.at <= course.call.deadline) return probe.target;
    throw circuitOpen(probe.at - now);
  }
}
