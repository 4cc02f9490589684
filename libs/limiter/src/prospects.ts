import type { Milliseconds, Priority, Target } from '@weir/kernel';
import type { HoldTimes } from './hold-times.js';
import { blockOf, pausedUntil, tooLargeFor } from './ledger/ledger.js';
import type { Cost } from './limiter.js';
import { lentTo } from './queue/entitlements.js';
import { expect, type Expectation } from './queue/eta.js';
import type { FairQueue } from './queue/fair-queue.js';
import type { Flow } from './queue/flow.js';
import type { Reservations } from './queue/reservations.js';
import { expired, neverFits, spokenFor, tooLate } from './refusals.js';
import type { Waiter } from './waiter.js';

/** A request is refused at once when it is expected later than this many times what it has left (docs/limiter.md, Numbers). */
const ETA_SLACK = 1.5;

/** When a request may expect its grant, and the refusal for those that may not. Books nothing. */
export class Prospects {
  constructor(
    private readonly reservations: Reservations,
    private readonly holds: HoldTimes,
    private readonly queueOf: (target: Target) => FairQueue,
  ) {}

  /** What a newcomer to a flow may expect. */
  expectation(flow: Flow, priority: Priority, cost: Cost, now: Milliseconds): Expectation {
    const goesNow = !blockOf(flow.vector, cost, now) && !this.reservations.delayedBy({ flow, cost }, now);
    const queue = this.queueOf(flow.model.target);
    const lent = goesNow ? lentTo({ flow, cost }, queue, now) : undefined;
    if (goesNow && !lent) return { at: now, boundBy: undefined };
    const expected = expect(queue, flow, { cost, priority }, { now, hold: this.holds.mean });
    return lent && lent.at > expected.at ? { at: lent.at, boundBy: lent.dimension } : expected;
  }

  /** What no time can mend, or only time after the deadline. */
  neverAnyMore(waiter: Waiter, now: Milliseconds): Error | undefined {
    const { flow, cost, deadline } = waiter;
    const tooLarge = tooLargeFor(flow.vector, cost);
    if (tooLarge) return neverFits(tooLarge, cost);
    return pausedUntil(flow.vector) > deadline ? this.late(waiter, now) : undefined;
  }

  /** Where it is expected so much later than its deadline that waiting is no use. */
  notInTime(waiter: Waiter, now: Milliseconds): Error | undefined {
    const expected = this.expectation(waiter.flow, waiter.priority, waiter.cost, now).at - now;
    const hopeless = Number.isFinite(expected) && expected > ETA_SLACK * (waiter.deadline - now);
    return hopeless ? this.late(waiter, now) : undefined;
  }

  /** Its deadline has come. */
  tooLong({ flow, priority, cost, askedAt, eligible }: Waiter, now: Milliseconds): Error {
    const expected = this.expectation(flow, priority, cost, now);
    // Behind its conversation it stands in no flow, so nobody of its team is before it.
    if (!eligible)
      return spokenFor(now - askedAt, expected.at - now + Math.max(1_000, this.holds.of(flow.vector)));
    return expired({ expected, now }, now - askedAt, flow.waiting - 1);
  }

  private late(waiter: Waiter, now: Milliseconds): Error {
    const { flow, priority, cost, deadline } = waiter;
    const expected = this.expectation(flow, priority, cost, now);
    const ahead = Math.round(flow.partAhead(priority) * flow.waiting);
    return tooLate({ expected, now }, deadline - now, ahead);
  }
}
