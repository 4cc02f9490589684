import { GatewayError, type CallIdentity, type Milliseconds, type Stay, type Target } from '@weir/kernel';
import type {
  Ask,
  Cost,
  Ending,
  Limiter,
  LimiterCall,
  LimiterStatus,
  Permit,
  QuotaObservation,
  QuotaView,
  Turn,
  Usage,
} from '@weir/limiter';
import { bucketOf } from './buckets.js';
import { waitResultOf } from './outcomes.js';
import { EndedPermit, EndedWait, tokensOf, type PermitTracing, type Wait } from './permit-spans.js';
import type { RequestTrace, RequestTraces } from './request-trace.js';
import type { SpanRecorder } from './span-recorder.js';

/** What the traced limiter counts besides its spans. */
export interface LimiterWatch {
  waits(target: Target, identity: CallIdentity, since: Milliseconds): Pick<Stay<unknown>, 'leave'>;
  holds(target: Target, identity: CallIdentity, since: Milliseconds): Pick<Stay<unknown>, 'leave'>;
  /** A permit ended for the first time. */
  charged(target: Target, identity: CallIdentity, ending: Ending): void;
  observed(target: Target, observation: QuotaObservation): void;
}

/** What the parts of a traced limiter share. */
interface Tracing extends PermitTracing {
  readonly traces: RequestTraces;
  readonly watch: LimiterWatch;
}

/** The limiter with a span for every wait and every refund. Adds no await to the path of a grant but its own. */
export class TracedLimiter implements Limiter {
  private readonly tracing: Tracing;

  constructor(
    private readonly inner: Limiter,
    recorder: SpanRecorder,
    traces: RequestTraces,
    watch: LimiterWatch,
  ) {
    this.tracing = { recorder, traces, watch, buckets: bucketOf(() => inner.status().dimensions) };
  }

  enter(call: LimiterCall): Turn {
    const trace = this.tracing.traces.of(call.identity);
    try {
      return new TracedTurn(this.inner.enter(call), trace, this.tracing);
    } catch (error) {
      const at = this.tracing.recorder.now();
      recordWait(this.tracing, trace, { from: at, to: at, result: waitResultOf(gatewayError(error)) });
      throw error;
    }
  }

  eta(call: CallIdentity, ask: Ask): Milliseconds {
    return this.inner.eta(call, ask);
  }

  quota(call: CallIdentity, target: Target): QuotaView {
    return this.inner.quota(call, target);
  }

  observe(target: Target, observation: QuotaObservation): void {
    this.tracing.watch.observed(target, observation);
    this.inner.observe(target, observation);
  }

  setLimit(dimension: string, limit: number): boolean {
    return this.inner.setLimit(dimension, limit);
  }

  status(): LimiterStatus {
    return this.inner.status();
  }

  drain(): void {
    this.inner.drain();
  }
}

class TracedTurn implements Turn {
  constructor(
    private readonly inner: Turn,
    private readonly trace: RequestTrace,
    private readonly tracing: Tracing,
  ) {}

  async acquire(ask: Ask, signal: AbortSignal): Promise<Permit> {
    const { recorder, watch } = this.tracing;
    const askedAt = recorder.now();
    const stay = watch.waits(ask.target, this.trace.identity, askedAt);
    try {
      const permit = await this.inner.acquire(ask, signal);
      return this.granted(permit, askedAt);
    } catch (error) {
      this.refused(ask, askedAt, gatewayError(error));
      throw error;
    } finally {
      stay.leave();
    }
  }

  leave(): void {
    this.inner.leave();
  }

  /** A retry keeps its age, so its eligibility may lie before the question that this wait answers. */
  private granted(permit: Permit, askedAt: Milliseconds): Permit {
    const from = Math.max(askedAt, permit.eligibleAt);
    const wait = recordWait(this.tracing, this.trace, {
      from,
      to: Math.max(from, permit.grantedAt),
      result: 'granted',
      target: permit.target,
      cost: permit.reserved,
      boundBy: permit.boundBy,
      level: permit.boundRoom,
      depthAtEntry: permit.depthAtEntry,
    });
    this.trace.tokens.reserved += tokensOf(permit.reserved);
    return new TracedPermit(permit, wait, this.trace, this.tracing);
  }

  private refused({ target, cost }: Ask, from: Milliseconds, error: GatewayError | undefined): void {
    const to = this.tracing.recorder.now();
    const result = waitResultOf(error);
    const boundBy = error?.dimension;
    recordWait(this.tracing, this.trace, { from, to, result, target, cost, boundBy });
  }
}

class TracedPermit implements Permit {
  readonly id: string;
  readonly target: Target;
  readonly reserved: Cost;
  readonly eligibleAt: Milliseconds;
  readonly grantedAt: Milliseconds;
  readonly boundBy: string | undefined;
  readonly depthAtEntry: number;
  private readonly stay: Pick<Stay<unknown>, 'leave'>;

  constructor(
    private readonly inner: Permit,
    private readonly wait: EndedWait,
    private readonly trace: RequestTrace,
    private readonly tracing: Tracing,
  ) {
    this.id = inner.id;
    this.target = inner.target;
    this.reserved = inner.reserved;
    this.eligibleAt = inner.eligibleAt;
    this.grantedAt = inner.grantedAt;
    this.boundBy = inner.boundBy;
    this.depthAtEntry = inner.depthAtEntry;
    this.stay = tracing.watch.holds(inner.target, trace.identity, inner.grantedAt);
  }

  get boundRoom(): number | undefined {
    return this.inner.boundRoom;
  }

  sent(): void {
    this.inner.sent();
  }

  settle(usage: Usage): Ending {
    return this.ended(this.inner.settle(usage));
  }

  fail(failure: GatewayError): Ending {
    return this.ended(this.inner.fail(failure));
  }

  cancel(): Ending {
    return this.ended(this.inner.cancel());
  }

  private ended(ending: Ending): Ending {
    if (ending.kind === 'already_ended') return ending;
    const { target, trace, tracing, wait } = this;
    this.stay.leave();
    trace.tokens.charged += ending.chargedTokens;
    for (const { unit, amount } of ending.refunds) if (unit === 'tokens') trace.tokens.refunded += amount;
    tracing.recorder.later(new EndedPermit(tracing, trace, { target, ending, wait }));
    return ending;
  }
}

/** @returns the wait, for links to its acquire span */
function recordWait(tracing: Tracing, trace: RequestTrace, wait: Wait): EndedWait {
  trace.waitedMs += wait.to - wait.from;
  const ended = new EndedWait(tracing, trace, wait);
  tracing.recorder.later(ended);
  return ended;
}

function gatewayError(thrown: unknown): GatewayError | undefined {
  return thrown instanceof GatewayError ? thrown : undefined;
}
