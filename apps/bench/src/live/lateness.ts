import type { EpochMilliseconds, Milliseconds } from '@weir/kernel';
import { MAX_WAIT_MS } from './plan.js';
import { stalledFrom, stalledIn, unionOf, type Stall } from './stalls.js';

/** When each process of a run stood still. */
export interface Stood {
  readonly callers: readonly Stall[];
  readonly gateway: readonly Stall[];
  readonly provider: readonly Stall[];
}

/** What the way out and back may take where everybody runs: four hops on loopback, of a machine that has more to do. */
export const WAY_MS: Milliseconds = 250;

/** How late something was. */
export interface Lateness {
  /** After the caller's deadline, on the wall clock. Negative: before it. */
  readonly onTheClock: Milliseconds;
  /** Without the time in which those stood still whose it was. */
  readonly ofTheirs: Milliseconds;
}

/**
 * Measures against the deadline of the caller, who cannot know when the gateway took its request: where one of them
 * stood still on that way, the wait began later by that.
 */
export class LatenessScale {
  private readonly wayOut: readonly Stall[];
  private readonly wayBack: readonly Stall[];

  constructor(private readonly stood: Stood) {
    this.wayOut = unionOf(stood.callers, stood.gateway);
    this.wayBack = unionOf(stood.callers, stood.gateway, stood.provider);
  }

  /** Of a call that the provider received then. That the gateway stood still is no excuse: it looks before it sends. */
  atProvider(askedAt: EpochMilliseconds, receivedAt: EpochMilliseconds): Lateness {
    return this.late(askedAt, receivedAt, this.stood.provider);
  }

  /** Of a refusal that its caller had then: nobody refuses who stands still. */
  ofRefusal(askedAt: EpochMilliseconds, refusedAt: EpochMilliseconds): Lateness {
    return this.late(askedAt, refusedAt, this.wayBack);
  }

  private late(askedAt: EpochMilliseconds, at: EpochMilliseconds, excuses: readonly Stall[]): Lateness {
    const onTheClock = at - askedAt - MAX_WAIT_MS;
    if (onTheClock <= 0) return { onTheClock, ofTheirs: onTheClock };
    const deadline = askedAt + stalledFrom(askedAt, WAY_MS, this.wayOut) + MAX_WAIT_MS;
    return { onTheClock, ofTheirs: at - deadline - stalledIn(deadline, at, excuses) };
  }
}

/** The latest of them, by what was theirs. */
export function latest(all: readonly Lateness[]): Lateness {
  const none: Lateness = { onTheClock: -Infinity, ofTheirs: -Infinity };
  return all.reduce((worst, each) => (each.ofTheirs > worst.ofTheirs ? each : worst), none);
}
