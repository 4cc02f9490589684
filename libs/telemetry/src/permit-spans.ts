import type { Attributes } from '@opentelemetry/api';
import type { CallIdentity, Milliseconds, Target } from '@weir/kernel';
import type { Cost, Ending, Refund } from '@weir/limiter';
import type { Buckets } from './buckets.js';
import { ATTRIBUTES as A, SPANS, type WaitResult } from './names.js';
import type { RecordedSpan } from './recorded-span.js';
import type { RequestTrace } from './request-trace.js';
import type { Aftermath, SpanRecorder } from './span-recorder.js';

/** What waits and permits need to be told. */
export interface PermitTracing {
  readonly recorder: SpanRecorder;
  readonly buckets: Buckets;
  readonly watch: { charged(target: Target, identity: CallIdentity, ending: Ending): void };
}

/** One wait that is over. */
export interface Wait {
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

/** Both spans of a wait, made when it is over: an open one could leak, and the parent is known anyway. */
export class EndedWait implements Aftermath {
  /** For links; there as soon as the wait was told. */
  acquire: RecordedSpan | undefined;
  private readonly shared: Readonly<Attributes>;

  constructor(
    private readonly tracing: PermitTracing,
    private readonly trace: RequestTrace,
    private readonly wait: Wait,
  ) {
    this.shared = wait.target === undefined ? trace.attributes() : trace.attributesFor(wait.target);
  }

  tell(): void {
    const { wait, shared } = this;
    const { recorder, buckets } = this.tracing;
    const at = wait.from;
    const queued = recorder
      .start(SPANS.queueWait, { parent: this.trace.parent, at, shared })
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
    this.acquire = acquire;
  }
}

/** The ending of a permit. */
export interface PermitEnd {
  readonly target: Target;
  readonly ending: Ending;
  /** The wait that gave the permit. */
  readonly wait: EndedWait;
}

/** What a permit's ending charged and gave back, with a span for every refund. */
export class EndedPermit implements Aftermath {
  private readonly at: Milliseconds;
  private readonly shared: Readonly<Attributes>;

  constructor(
    private readonly tracing: PermitTracing,
    private readonly trace: RequestTrace,
    private readonly end: PermitEnd,
  ) {
    this.at = tracing.recorder.now();
    this.shared = trace.attributesFor(end.target);
  }

  tell(): void {
    const { target, ending } = this.end;
    this.tracing.watch.charged(target, this.trace.identity, ending);
    for (const refund of ending.refunds) this.refunded(refund);
  }

  private refunded({ unit, reason, amount }: Refund): void {
    const { at, shared } = this;
    const span = this.tracing.recorder
      .start(SPANS.refund, { parent: this.trace.parent, link: this.end.wait.acquire, shared, at })
      .set(A.bucket, unit === 'tokens' ? 'tpm' : 'rpm')
      .set(A.refundReason, reason)
      .set(A.refundAmount, amount);
    if (unit === 'tokens') span.set(A.tokensRefunded, amount);
    span.endAt(at);
  }
}

/** What an attempt reserves, in all. */
export function tokensOf(cost: Cost): number {
  return cost.inputTokens + cost.outputTokens;
}
