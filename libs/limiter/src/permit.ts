import type { GatewayError, Milliseconds, Target } from '@weir/kernel';
import type { Entry } from './ledger/ledger.js';
import type { Lease } from './leases.js';
import type { Cost, Ending, Permit, Usage } from './limiter.js';
import type { Flow } from './queue/flow.js';
import { alreadyEnded, cancelledVerdict, settledVerdict, type Verdict } from './refund-rule.js';

/** What was granted. */
export interface Grant {
  readonly target: Target;
  readonly flow: Flow;
  readonly entry: Entry;
  readonly share: number;
  readonly eligibleAt: Milliseconds;
  readonly grantedAt: Milliseconds;
  readonly boundBy: string | undefined;
  readonly depthAtEntry: number;
  /** Another model waited for the same room: it counts against the flow's share. */
  readonly contested: boolean;
}

/** Where permits end. */
export interface PermitDesk {
  /** The attempt leaves now; called at most once per permit, before its ending. */
  depart(permit: PacedPermit): void;
  /** Books an ending; called once per permit. */
  close(permit: PacedPermit, verdict: Verdict): Ending;
  /** The same for a failure, whose class decides and may pause a dimension. */
  fail(permit: PacedPermit, failure: GatewayError, sent: boolean): Ending;
}

/** A permit of the paced limiter: the first ending counts, later ones change nothing. */
export class PacedPermit implements Permit {
  private state: 'granted' | 'sent' | 'ended' = 'granted';

  constructor(
    private readonly desk: PermitDesk,
    readonly grant: Grant,
    private readonly serial: number,
    readonly lease: Lease | undefined,
  ) {}

  get id(): string {
    return `permit-${this.serial}`;
  }

  get target(): Target {
    return this.grant.target;
  }

  get reserved(): Cost {
    return this.grant.entry.cost;
  }

  get eligibleAt(): Milliseconds {
    return this.grant.eligibleAt;
  }

  get grantedAt(): Milliseconds {
    return this.grant.grantedAt;
  }

  get boundBy(): string | undefined {
    return this.grant.boundBy;
  }

  get boundRoom(): number | undefined {
    const { entry, boundBy, grantedAt } = this.grant;
    if (boundBy === undefined) return undefined;
    const room = entry.vector.find(({ spec }) => spec.id === boundBy)?.room(grantedAt);
    return room === Infinity ? undefined : room;
  }

  get depthAtEntry(): number {
    return this.grant.depthAtEntry;
  }

  sent(): void {
    if (this.state !== 'granted') return;
    this.state = 'sent';
    this.desk.depart(this);
  }

  settle(usage: Usage): Ending {
    if (!this.ends()) return alreadyEnded(this.reserved);
    return this.desk.close(this, settledVerdict(this.reserved, usage));
  }

  fail(failure: GatewayError): Ending {
    const sent = this.state === 'sent';
    return this.ends() ? this.desk.fail(this, failure, sent) : alreadyEnded(this.reserved);
  }

  cancel(): Ending {
    const refundable = this.state === 'sent' ? 'nothing' : 'everything';
    if (!this.ends()) return alreadyEnded(this.reserved);
    return this.desk.close(this, cancelledVerdict(this.reserved, refundable));
  }

  /** @returns whether this ending is the first */
  private ends(): boolean {
    const first = this.state !== 'ended';
    this.state = 'ended';
    return first;
  }
}
