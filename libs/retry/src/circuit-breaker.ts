import type { Milliseconds, Random } from '@weir/kernel';
import { CellRing } from './cell-ring.js';

/** When a target is left alone, and for how long. */
export interface BreakerPolicy {
  /** Fewest verdicts in the window to judge by. Default 20. */
  readonly minAttempts: number;
  /** Share of failures that opens it, in (0, 1]. Default 0.5. */
  readonly failureShare: number;
  /** Default 10 s. */
  readonly windowMs: Milliseconds;
  /** How long it stays open the first time. Default 5 s. */
  readonly openMs: Milliseconds;
  /** The longest that it stays open. Default 60 s. */
  readonly maxOpenMs: Milliseconds;
}

/** How a breaker stands. */
export type BreakerState =
  | { readonly kind: 'closed' }
  | { readonly kind: 'open'; readonly until: Milliseconds }
  | {
      readonly kind: 'half_open';
      /** Attempts of this round, of which each has to come good. */
      readonly probes: number;
      readonly admitted: number;
      readonly passed: number;
    };

type Probing = Extract<BreakerState, { kind: 'half_open' }>;

/** One attempt that went through a breaker. */
export interface Passage {
  /** How often the breaker had opened: what was sent before it opened says nothing about the time after. */
  readonly era: number;
  /** Probes of the round that it belongs to; 0 where it was none. */
  readonly round: number;
  verdict: 'none' | 'succeeded' | 'failed';
}

/** Rounds of probes after an open time: each has to come good before the next. */
const ROUNDS = [1, 2, 4] as const;
const CELLS = 10;
const CLOSED: BreakerState = { kind: 'closed' };

/**
 * The circuit breaker of one model of one account. It holds no timer and no queue: time is passed in, and `slots` tells
 * how many attempts may be under way, so that whoever keeps the queue lets exactly the probes through.
 *
 * Invariants: it opens only from verdicts; a round admits exactly its probes; what was sent before it
 * opened says nothing about the time after.
 */
export class CircuitBreaker {
  private standing = CLOSED;
  private era = 0;
  private underWay = 0;
  private failedRounds = 0;
  private window: CellRing<{ successes: number; failures: number }>;

  constructor(
    private readonly policy: BreakerPolicy,
    private readonly random: Random,
  ) {
    this.window = this.emptyWindow();
  }

  get state(): BreakerState {
    return this.standing;
  }

  /** Attempts that may be under way at once, those from before included. Infinity: as many as like; 0: none. */
  get slots(): number {
    const { standing } = this;
    switch (standing.kind) {
      case 'closed':
        return Infinity;
      case 'open':
        return 0;
      case 'half_open':
        return this.underWay + standing.probes - standing.admitted;
    }
  }

  /** Whether an attempt may go through now. */
  get admits(): boolean {
    return this.slots > this.underWay;
  }

  /** An attempt goes through; every one has to `leave` in the end. */
  enter(): Passage {
    this.underWay += 1;
    const { standing, era } = this;
    if (standing.kind !== 'half_open') return { era, round: 0, verdict: 'none' };
    this.standing = { ...standing, admitted: standing.admitted + 1 };
    return { era, round: standing.probes, verdict: 'none' };
  }

  /** The answer began. */
  succeeded(passage: Passage, now: Milliseconds): void {
    if (passage.era !== this.era || passage.verdict !== 'none') return;
    passage.verdict = 'succeeded';
    const { standing } = this;
    if (standing.kind === 'closed') this.window.at(now).successes += 1;
    else if (isProbe(passage, standing)) this.passed(standing);
  }

  /**
   * It failed; after `succeeded` the success is taken back, so that a provider that cuts every answer opens it too, and
   * a probe that breaks late still ends the probing.
   */
  failed(passage: Passage, now: Milliseconds): void {
    if (passage.era !== this.era || passage.verdict === 'failed') return;
    const { standing } = this;
    if (standing.kind === 'closed') this.count(passage, now);
    else if (standing.kind === 'half_open') this.reopen(now);
    passage.verdict = 'failed';
  }

  /** It is over. Without a verdict (a 429, a caller who left) another one may probe in its place. */
  leave(passage: Passage): void {
    this.underWay -= 1;
    const { standing } = this;
    if (passage.era === this.era && passage.verdict === 'none' && isProbe(passage, standing))
      this.standing = { ...standing, admitted: standing.admitted - 1 };
  }

  /** Begins to probe where the open time is over. */
  wake(now: Milliseconds): void {
    if (this.standing.kind === 'open' && now >= this.standing.until) this.probe(ROUNDS[0]);
  }

  private passed(round: Probing): void {
    const passed = round.passed + 1;
    if (passed < round.probes) {
      this.standing = { ...round, passed };
      return;
    }
    const next = ROUNDS.find((probes) => probes > round.probes);
    if (next === undefined) this.close();
    else this.probe(next);
  }

  private count(passage: Passage, now: Milliseconds): void {
    const cell = this.window.at(now);
    cell.failures += 1;
    if (passage.verdict === 'succeeded') cell.successes -= 1;
    let successes = 0;
    let failures = 0;
    for (const each of this.window.last(CELLS, now)) {
      successes += each.successes;
      failures += each.failures;
    }
    // A success that was taken back may have left the window before.
    const attempts = failures + Math.max(0, successes);
    const { minAttempts, failureShare, openMs } = this.policy;
    if (attempts >= minAttempts && failures >= failureShare * attempts) this.open(now + openMs);
  }

  /** Doubled with every round that failed; jitter goes upward only, so that several gateways do not probe together. */
  private reopen(now: Milliseconds): void {
    this.failedRounds += 1;
    const { openMs, maxOpenMs } = this.policy;
    const base = Math.min(maxOpenMs, openMs * 2 ** this.failedRounds);
    this.open(now + Math.min(maxOpenMs, base * (1 + this.random.next())));
  }

  private open(until: Milliseconds): void {
    this.era += 1;
    this.standing = { kind: 'open', until };
  }

  private probe(probes: number): void {
    this.standing = { kind: 'half_open', probes, admitted: 0, passed: 0 };
  }

  private close(): void {
    this.failedRounds = 0;
    this.window = this.emptyWindow();
    this.standing = CLOSED;
  }

  private emptyWindow(): CellRing<{ successes: number; failures: number }> {
    return new CellRing(this.policy.windowMs / CELLS, CELLS, () => ({ successes: 0, failures: 0 }));
  }
}

/** Whether an attempt of this era is one of the probes that a breaker waits for. */
function isProbe(passage: Passage, standing: BreakerState): standing is Probing {
  return standing.kind === 'half_open' && passage.round === standing.probes;
}
