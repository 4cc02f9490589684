import type { Clock, GatewayError, Milliseconds } from '@weir/kernel';
import type { Dispatcher } from './dispatcher.js';
import type { HoldTimes } from './hold-times.js';
import type { Leases } from './leases.js';
import type { Charge, Ledger } from './ledger/ledger.js';
import type { Ending, Permit } from './limiter.js';
import { PacedPermit, type Grant, type PermitDesk } from './permit.js';
import { failedVerdict, isThrottle, refundableAfter, type Refundable, type Verdict } from './refund-rule.js';
import type { Throttle } from './throttle.js';

/** What endings are booked with. */
export interface SettlementParts {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly dispatcher: Dispatcher;
  readonly throttle: Throttle;
  readonly holds: HoldTimes;
  readonly leases: Leases;
  /** Accounts whose provider is known not to count what it rejects. */
  readonly refundRequestsOn429: ReadonlySet<string>;
}

/** Where permits come from and end: each is booked once, in the slots that it debited, and what that frees is granted. */
export class Settlements implements PermitDesk {
  private serial = 0;
  private ended = 0;

  constructor(private readonly parts: SettlementParts) {}

  /** Permits that have not ended and have not leaked. */
  get open(): number {
    return this.serial - this.ended - this.parts.leases.leaked;
  }

  issue(grant: Grant): Permit {
    this.serial += 1;
    const lease =
      grant.flow.slots.length > 0 ? this.parts.leases.open(grant.flow, grant.grantedAt) : undefined;
    return new PacedPermit(this, grant, this.serial, lease);
  }

  depart({ grant: { entry, grantedAt } }: PacedPermit): void {
    const now = this.parts.clock.now();
    if (now > grantedAt) this.parts.ledger.postpone(entry, now);
  }

  close(permit: PacedPermit, verdict: Verdict): Ending {
    const now = this.parts.clock.now();
    const { entry, grantedAt } = permit.grant;
    const charge = this.book(permit, verdict, now);
    if (verdict.ending.kind === 'settled') this.parts.throttle.answered(entry.vector, grantedAt);
    this.parts.dispatcher.ended(entry, charge, now);
    return verdict.ending;
  }

  fail(permit: PacedPermit, failure: GatewayError, sent: boolean): Ending {
    const now = this.parts.clock.now();
    const { grant } = permit;
    const { vector, cost } = grant.entry;
    // The learner has to see the window as it was when the provider refused, so it is told before anything comes back.
    const paused = this.parts.throttle.refused({ vector, grantedAt: grant.grantedAt }, failure, now);
    const verdict = failedVerdict(cost, failure, this.refundable(grant, failure, sent));
    const charge = this.book(permit, verdict, now);
    if (paused) this.parts.dispatcher.reconsider(now);
    else this.parts.dispatcher.ended(grant.entry, charge, now);
    return verdict.ending;
  }

  private refundable(grant: Grant, error: GatewayError, sent: boolean): Refundable {
    const throttled = isThrottle(error.failure);
    const reached = sent || error.sent || error.upstreamStatus !== undefined || throttled;
    if (!reached) return 'everything';
    if (throttled && this.parts.refundRequestsOn429.has(grant.target.account)) return 'everything';
    return refundableAfter(error.failure);
  }

  /** @returns what the attempt cost in the end */
  private book({ grant, lease }: PacedPermit, verdict: Verdict, now: Milliseconds): Charge {
    const { entry, flow, share, grantedAt, contested } = grant;
    const reaped = lease?.over === true;
    if (lease && !reaped) lease.open -= 1;
    if (!reaped) this.ended += 1;
    const charge = reaped ? { ...verdict.charge, slotIsFree: true } : verdict.charge;
    this.parts.ledger.settle(entry, charge, now);
    this.parts.holds.ended(flow.slots, now - grantedAt);
    const spent = charge.requests === 0 ? 0 : flow.model.shareOf(charge);
    flow.correct(spent - share, grantedAt, now);
    if (contested) flow.amend(entry.cost, charge, grantedAt);
    return charge;
  }
}
