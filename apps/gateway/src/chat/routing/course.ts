import type { CallsMade, Target } from '@weir/kernel';
import type { Turn } from '@weir/limiter';
import type { Course as RetryCourse } from '@weir/retry';
import type { ChatCall } from '../chat-call.js';

/** Equal choices: the targets of a route, then each fallback for itself. */
export type Rank = readonly Target[];

/**
 * The way of one request over its targets: from which it may choose, and which it has failed at. Ranks are only ever
 * gone down, so a request comes to its end whatever fails.
 */
export class Course implements RetryCourse {
  /** Where the latest attempt went. */
  at: Target | undefined;
  /** Undefined while nobody was called. */
  calls: CallsMade | undefined;
  private readonly all: readonly Rank[];
  private first = 0;
  private readonly tried = new Set<Target>();

  /** @param isUsable whether a target may be called now */
  constructor(
    readonly call: ChatCall,
    readonly turn: Turn,
    private readonly isUsable: (target: Target) => boolean,
  ) {
    this.all = [call.targets, ...call.fallback.map((target) => [target])];
  }

  /** Those that are left, best first. */
  get ranks(): readonly Rank[] {
    return this.first === 0 ? this.all : this.all.slice(this.first);
  }

  /** Whether there is anything to choose. */
  get branches(): boolean {
    return this.all.length - this.first > 1 || this.call.targets.length > 1;
  }

  get account(): string | undefined {
    return this.at?.account;
  }

  /** Of `targets`, those that this request has not failed at; all where it has failed at each. */
  fresh(targets: readonly Target[]): readonly Target[] {
    if (this.tried.size === 0) return targets;
    const untried = targets.filter((target) => !this.tried.has(target));
    return untried.length === 0 ? targets : untried;
  }

  /** What may serve instead of `target`: its equals and its betters, without those that this request has failed at. */
  insteadOf(target: Target): readonly Target[] {
    const upTo = this.ranks.slice(0, this.rankOf(target) - this.first + 1);
    return upTo.flat().filter((other) => other !== target && !this.tried.has(other));
  }

  avoid(): boolean {
    if (this.at === undefined) return false;
    this.tried.add(this.at);
    if (this.insteadOf(this.at).some(this.isUsable)) return true;
    this.tried.clear();
    return false;
  }

  fallBack(): boolean {
    if (this.at === undefined) return false;
    const next = this.all.findIndex(
      (rank, index) => index > this.rankOf(this.at) && rank.some(this.isUsable),
    );
    if (next < 0) return false;
    this.first = next;
    this.tried.clear();
    return true;
  }

  private rankOf(target: Target | undefined): number {
    return this.all.findIndex((rank) => target !== undefined && rank.includes(target));
  }
}
