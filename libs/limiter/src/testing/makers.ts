import type { Ticket } from '../queue/ticket.js';
import { seededRandom, type Milliseconds, type Target } from '@weir/kernel';
import { amountOf, type Charge, type Entry, type Ledger, type Vector } from '../ledger/ledger.js';
import { MemoryLedger } from '../ledger/memory-ledger.js';
import type { Cost } from '../limiter.js';
import { PacedLimiter, type PacedLimiterParts } from '../paced-limiter.js';
import type { Dimension } from '../quota/dimension.js';
import type { Bench, MakeLimiter } from './scenarios.js';

/** The real one, with a ledger that is written down. */
export const paced: MakeLimiter = (bench) => build(bench);

/** Gives the request back after every 429, as the first article's client does. */
export const refundsRequests: MakeLimiter = (bench) =>
  build(bench, { refundRequestsOn429: new Set(['main']) });

/** Debits one dimension after the other and forgets those that it took when one has no room. */
export const debitsPartly: MakeLimiter = (bench) =>
  build(bench, { ledger: new PartialLedger(memoryLedger(bench)) });

/** Serves its first team before all others. */
export const strictlyByTeam: MakeLimiter = (bench) =>
  build({ ...bench, teams: bench.teams.map((team, rank) => ({ ...team, weight: 10 ** (12 - 6 * rank) })) });

/** The real one, with other parts. */
export function build(bench: Bench, parts: Partial<PacedLimiterParts> = {}): PacedLimiter {
  return new PacedLimiter({
    ledger: memoryLedger(bench),
    teams: bench.teams,
    clock: bench.clock,
    timers: bench.clock,
    random: seededRandom(7),
    queue: { maxWaitMs: 1e9, maxDepth: 1e6, maxDepthPerTeam: 1e6 },
    ...parts,
  });
}

function memoryLedger({ dimensions, clock, recorder }: Bench): MemoryLedger {
  return new MemoryLedger(dimensions, recorder.make, () => clock.now());
}

class PartialLedger implements Ledger {
  constructor(private readonly inner: Ledger) {}

  get dimensions(): Iterable<Dimension> {
    return this.inner.dimensions;
  }

  dimension(id: string): Dimension | undefined {
    return this.inner.dimension(id);
  }

  vector(target: Target, team: string): Vector {
    return this.inner.vector(target, team);
  }

  admit(vector: Vector, cost: Cost, now: Milliseconds): Entry | undefined {
    const slots: number[] = [];
    for (const dimension of vector) {
      const amount = amountOf(dimension.spec.unit, cost);
      if (!dimension.fits(amount, now)) return undefined;
      slots.push(dimension.debit(amount, now));
    }
    return { vector, cost, slots };
  }

  postpone(entry: Entry, now: Milliseconds): void {
    this.inner.postpone(entry, now);
  }

  settle(entry: Entry, charge: Charge, now: Milliseconds): void {
    this.inner.settle(entry, charge, now);
  }
}

/** A ticket that waits for nothing in particular, for what only keeps tickets in order. @param age also its number */
export function ticketOf(age: number, cost: Cost = { inputTokens: 0, outputTokens: 0 }): Ticket {
  return {
    flow: undefined,
    age,
    priority: 'normal',
    cost,
    share: 0,
    askedAt: 0,
    deadline: Infinity,
    tag: Infinity,
    waiting: true,
    boundBy: undefined,
    grant: () => true,
  };
}
