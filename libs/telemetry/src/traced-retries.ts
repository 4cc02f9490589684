import type { RetryDecision, RetryObserver } from '@weir/retry';
import { ATTRIBUTES as A, SPANS } from './names.js';
import type { RequestTraces } from './request-trace.js';
import type { SpanRecorder } from './span-recorder.js';

/** A span for every decision after a failed attempt, and the backoff that follows it. */
export class TracedRetries implements RetryObserver {
  constructor(
    private readonly recorder: SpanRecorder,
    private readonly traces: RequestTraces,
  ) {}

  decided(decision: RetryDecision): () => void {
    const trace = this.traces.of(decision.identity);
    const reason = decision.error.failure ?? decision.error.code;
    trace.lastRetryReason = reason;
    const span = this.recorder
      .start(SPANS.retry, { parent: trace.parent, link: trace.lastAttempt, shared: trace.attributes() })
      .set(A.attemptNumber, decision.attempt)
      .set(A.retryReason, reason)
      .set(A.retryDelayMs, decision.delayMs)
      .set(A.retrySource, decision.source === 'hint' ? 'retry_after' : 'computed')
      .set(A.retryResult, decision.result)
      .set(A.retryAfterMs, decision.hintMs);
    if (decision.result !== 'scheduled') span.markError();
    return () => {
      span.end();
    };
  }
}
