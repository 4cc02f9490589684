import { seededRandom, type Milliseconds, type Random } from '@weir/kernel';
import type { VirtualTime } from './virtual-time.js';

/** Whose requests they are, and what share of the demand. */
export const TEAMS: readonly (readonly [id: string, share: number])[] = [
  ['a', 0.4],
  ['b', 0.3],
  ['c', 0.15],
  ['d', 0.1],
  ['e', 0.05],
];

/** The team that asks least. */
export const LIGHT_TEAM = 'e';

/** The whole demand in the first third of every three minutes, or all the time. */
export type Rhythm = 'steady' | 'bursty';

/** What is asked of the limiter. */
export interface TrafficPlan {
  /** Requests in a minute, in the mean. */
  readonly requestsPerMinute: number;
  readonly rhythm: Rhythm;
  readonly meanTokens: number;
}

/** One request, and what became of it. */
export interface Job {
  readonly team: string;
  readonly tokens: number;
  readonly arrivedAt: Milliseconds;
  readonly deadline: Milliseconds;
  /** When the call left that was served. */
  leftAt: Milliseconds;
  state: 'open' | 'served' | 'refused' | 'expired';
}

/** How long a caller waits. */
export const DEADLINE_MS: Milliseconds = 60_000;

const LARGEST_TOKENS = 200_000;
const MINUTE_MS: Milliseconds = 60_000;
const BURST_MS: Milliseconds = MINUTE_MS;
const PERIOD_MS: Milliseconds = 3 * MINUTE_MS;

/** Poisson arrivals with sizes of a lognormal distribution (sigma 1), cut. The same seed asks the same of everybody. */
export class Traffic {
  private readonly random: Random;
  private readonly meanGapMs: Milliseconds;

  constructor(
    private readonly plan: TrafficPlan,
    seed: number,
  ) {
    this.random = seededRandom(seed);
    const density = plan.rhythm === 'bursty' ? PERIOD_MS / BURST_MS : 1;
    this.meanGapMs = MINUTE_MS / (plan.requestsPerMinute * density);
  }

  /** Hands every arrival to `arrive`, for ever. */
  start(time: VirtualTime, arrive: (job: Job) => void): void {
    const next = (from: Milliseconds): void => {
      const at = this.arrivalAfter(from);
      time.at(at, () => {
        arrive(this.job(at));
        next(at);
      });
    };
    next(0);
  }

  private arrivalAfter(from: Milliseconds): Milliseconds {
    const at = from - this.meanGapMs * Math.log(1 - this.random.next());
    if (this.plan.rhythm === 'steady' || at % PERIOD_MS < BURST_MS) return at;
    return this.arrivalAfter(Math.ceil(at / PERIOD_MS) * PERIOD_MS);
  }

  private job(at: Milliseconds): Job {
    const [team, tokens] = [this.team(), this.tokens()];
    return { team, tokens, arrivedAt: at, deadline: at + DEADLINE_MS, leftAt: NaN, state: 'open' };
  }

  private team(): string {
    let left = this.random.next();
    for (const [id, share] of TEAMS) {
      left -= share;
      if (left < 0) return id;
    }
    return LIGHT_TEAM;
  }

  private tokens(): number {
    const normal =
      Math.sqrt(-2 * Math.log(1 - this.random.next())) * Math.cos(2 * Math.PI * this.random.next());
    const tokens = Math.round(this.plan.meanTokens * Math.exp(normal - 0.5));
    return Math.min(LARGEST_TOKENS, Math.max(1, tokens));
  }
}
