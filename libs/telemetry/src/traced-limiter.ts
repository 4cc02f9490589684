import { GatewayError, type CallIdentity, type Milliseconds, type Target } from '@weir/kernel';
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
import { bucketOf, type Buckets } from './buckets.js';
import { ATTRIBUTES as A, SPANS, type WaitResult } from './names.js';
import { waitResultOf } from './outcomes.js';
import type { RecordedSpan } from './recorded-span.js';
import type { RequestTrace, RequestTraces } from './request-trace.js';
import type { SpanRecorder } from './span-recorder.js';

/** What the traced limiter counts besides its spans. */
export interface LimiterWatch {
  waits(target: Target, identity: CallIdentity, since: Milliseconds): () => void;
  holds(target: Target, identity: CallIdentity, since: Milliseconds): () => void;
  /** A permit ended for the first time. */
  charged(target: Target, identity: CallIdentity, ending: Ending): void;
  observed(target: Target, observation: QuotaObservation): void;
}

/** What the parts of a traced limiter share. */
interface Tracing {
  readonly recorder: SpanRecorder;
  readonly traces: RequestTraces;
  readonly watch: LimiterWatch;
  readonly buckets: Buckets;
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
    const stopsWaiting = watch.waits(ask.target, this.trace.identity, askedAt);
    try {
      const permit = await this.inner.acquire(ask, signal);
      return this.granted(permit, askedAt);
    } catch (error) {
      this.refused(ask, askedAt, gatewayError(error));
      throw error;
    } finally {
      stopsWaiting();
    }
  }

  leave(): void {
    this.inner.leave();
  }

  /** A retry keeps its age, so its eligibility may lie before the question that this wait answers. */
  private granted(permit: Permit, askedAt: Milliseconds): Permit {
    const from = Math.max(askedAt, permit.eligibleAt);
    const acquire = recordWait(this.tracing, this.trace, {
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
    return new TracedPermit(permit, acquire, this.trace, this.tracing);
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
  private readonly release: () => void;

  constructor(
    private readonly inner: Permit,
    private readonly acquire: RecordedSpan,
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
    this.release = tracing.watch.holds(inner.target, trace.identity, inner.grantedAt);
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
    this.release();
    this.trace.tokens.charged += ending.chargedTokens;
    this.tracing.watch.charged(this.target, this.trace.identity, ending);
    for (const refund of ending.refunds) {
      const isTokens = refund.unit === 'tokens';
      if (isTokens) this.trace.tokens.refunded += refund.amount;
      const span = this.tracing.recorder
        .start(SPANS.refund, {
          parent: this.trace.parent,
          link: this.acquire,
          shared: this.trace.attributesFor(this.target),
        })
        .set(A.bucket, isTokens ? 'tpm' : 'rpm')
        .set(A.refundReason, refund.reason)
        .set(A.refundAmount, refund.amount);
      if (isTokens) span.set(A.tokensRefunded, refund.amount);
      span.endAt(span.startedAt);
    }
    return ending;
  }
}

/** One wait that is over. */
interface Wait {
  readonly from: Milliseconds;
  readonly to: Milliseconds;
  readonly result: WaitResult;
  readonly target?: Target;
  readonly cost?: Cost;
  readonly boundBy?: string | undefined;
  /** Room of what it was bound by, after it. */
  readonly level?: number | undefined;
  readonly depthAtEntry?: number;
}

/**
 * Both spans of a wait, made when it is over: an open one could leak, and the parent is known anyway.
 * @returns the acquire span, for links
 */
function recordWait({ recorder, buckets }: Tracing, trace: RequestTrace, wait: Wait): RecordedSpan {
  const shared = wait.target === undefined ? trace.attributes() : trace.attributesFor(wait.target);
  const at = wait.from;
  trace.waitedMs += wait.to - wait.from;
  const queued = recorder
    .start(SPANS.queueWait, { parent: trace.parent, at, shared })
    .set(A.waitResult, wait.result)
    .set(A.depthAtEntry, wait.depthAtEntry);
  const acquire = recorder
    .start(SPANS.acquire, { parent: queued, at, shared })
    .set(A.waitResult, wait.result)
    .set(A.bucket, buckets(wait.boundBy))
    .set(A.dimension, wait.boundBy)
    .set(A.bucketLevel, wait.level)
    .set(A.tokensRequested, wait.cost && tokensOf(wait.cost));
  for (const span of [acquire, queued]) {
    if (wait.result === 'timeout' || wait.result === 'shed') span.markError();
    span.endAt(wait.to);
  }
  return acquire;
}

function tokensOf(cost: Cost): number {
  return cost.inputTokens + cost.outputTokens;
}

function gatewayError(thrown: unknown): GatewayError | undefined {
  return thrown instanceof GatewayError ? thrown : undefined;
}
