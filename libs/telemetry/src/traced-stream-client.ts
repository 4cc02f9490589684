import { context, createContextKey, SpanKind, trace as otelTrace } from '@opentelemetry/api';
import { GatewayError, toGatewayError, type Milliseconds } from '@weir/kernel';
import type { StreamClient, StreamReading, UpstreamAnswer, UpstreamRequest } from '@weir/upstream';
import { ATTRIBUTES as A, SPANS, type ResumeResult, type StreamEnd } from './names.js';
import { attemptOutcomeOf, errorTypeOf, throttleKindOf } from './outcomes.js';
import type { RecordedSpan } from './recorded-span.js';
import type { RequestTrace, RequestTraces } from './request-trace.js';
import type { SpanRecorder } from './span-recorder.js';

/** Number of the attempt in whose context a connection is asked for. */
export const ATTEMPT_NUMBER = createContextKey('weir.attempt.number');

/** The stream client with a span for every attempt and for the relay of its stream. */
export class TracedStreamClient implements StreamClient {
  constructor(
    private readonly inner: StreamClient,
    private readonly recorder: SpanRecorder,
    private readonly traces: RequestTraces,
  ) {}

  async open(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamAnswer> {
    const attempt = new TracedAttempt(request, signal, this.recorder, this.traces.of(request.identity));
    try {
      const answer = await attempt.inContext(() =>
        this.inner.open(
          {
            ...request,
            onSent: () => {
              request.onSent?.();
              attempt.sent();
            },
            onOver: (thrown) => {
              request.onOver?.(thrown);
              attempt.over(thrown);
            },
          },
          signal,
        ),
      );
      attempt.opened(answer);
      return answer;
    } catch (error) {
      attempt.failed(error);
      throw error;
    }
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}

/** The span of one attempt, from its first byte out to its last byte in. Ends once, whoever ends it. */
class TracedAttempt {
  private readonly span: RecordedSpan;
  private wasSent = false;
  private answer: UpstreamAnswer | undefined;
  private early: { readonly thrown: Error | undefined } | undefined;

  constructor(
    private readonly request: UpstreamRequest,
    private readonly signal: AbortSignal,
    private readonly recorder: SpanRecorder,
    private readonly trace: RequestTrace,
  ) {
    const { target, attempt, stream, resume } = request;
    const server = trace.serverOf(target);
    this.span = recorder
      .start(`${request.identity.operation} ${target.model}`, {
        kind: SpanKind.CLIENT,
        parent: trace.parent,
        link: trace.lastAttempt,
        shared: trace.attributesFor(target),
      })
      .set(A.serverAddress, server.address)
      .set(A.serverPort, server.port)
      .set(A.attemptNumber, attempt)
      .set(A.requestStream, stream)
      .set(A.resumeNumber, resume?.number)
      .set(A.resumeFromChunk, resume?.fromChunk);
    if (trace.attempts > 0) this.span.set(A.retryReason, trace.lastRetryReason);
    trace.attempts += 1;
    trace.lastAttempt = this.span;
  }

  /**
   * The automatic client span must find this one as its parent, and only while the connection is asked for.
   * It is not made in a trace that is not exported, so nobody looks there.
   */
  inContext<Result>(run: () => Result): Result {
    if (!this.span.isExported) return run();
    const below = otelTrace
      .setSpan(context.active(), this.span)
      .setValue(ATTEMPT_NUMBER, this.request.attempt);
    return context.with(below, run);
  }

  sent(): void {
    this.wasSent = true;
  }

  /** A good head: the attempt goes on until its reader is done with the frames. */
  opened(answer: UpstreamAnswer): void {
    this.answer = answer;
    this.wasSent = true;
    this.span.set(A.httpStatus, answer.status);
    if (this.early !== undefined) this.over(this.early.thrown);
  }

  /** The reader is done with the frames. An abort can come to that before the head was looked at. */
  over(thrown?: Error): void {
    if (this.answer === undefined) this.early = { thrown };
    else if (thrown === undefined) this.complete();
    else this.failed(thrown);
  }

  failed(thrown: unknown): void {
    if (this.span.ended) return;
    const error = this.failureOf(thrown);
    const outcome = attemptOutcomeOf(error);
    this.wasSent ||= error.sent;
    this.span.set(A.attemptOutcome, outcome);
    if (outcome === 'throttled') this.span.set(A.throttleKind, throttleKindOf(error));
    if (outcome !== 'cancelled') {
      this.span
        .set(A.httpStatus, error.upstreamStatus)
        .set(A.errorType, errorTypeOf(error))
        .set(A.retryAfterMs, error.hintMs)
        .markError();
    }
    this.finish(outcome === 'cancelled' ? 'client_gone' : 'upstream_broken');
  }

  private complete(): void {
    if (this.span.ended) return;
    this.span.set(A.attemptOutcome, 'ok');
    this.finish('complete');
  }

  /** Whatever else an abort carries, the caller is why: timeouts of the adapter come as errors of its own. */
  private failureOf(thrown: unknown): GatewayError {
    if (thrown instanceof GatewayError) return thrown;
    if (this.signal.aborted) return new GatewayError('client_disconnected', 'The caller left.');
    return toGatewayError(thrown);
  }

  private finish(end: StreamEnd): void {
    const now = this.recorder.now();
    const reading = this.answer?.reading;
    if (reading !== undefined) this.recordReading(reading, end, now);
    if (!this.wasSent) this.span.set(A.attemptSent, false);
    if (this.request.resume !== undefined) this.span.set(A.resumeResult, this.resumeResult(end));
    this.span.endAt(now);
  }

  /** Its reader leaves an answer before the caller does only where it is not the one that broke. */
  private resumeResult(end: StreamEnd): ResumeResult {
    if (end === 'complete') return 'joined';
    if (end === 'upstream_broken') return 'failed';
    return this.signal.aborted ? 'cancelled' : 'diverged';
  }

  private recordReading(reading: StreamReading, end: StreamEnd, now: Milliseconds): void {
    const { usage, firstByteAt, firstVisibleAt } = reading;
    this.span.set(A.responseModel, reading.responseModel).set(A.responseId, reading.responseId);
    if (reading.finishReason !== undefined) this.span.set(A.finishReasons, [reading.finishReason]);
    if (this.request.stream && firstVisibleAt !== undefined)
      this.span.set(A.timeToFirstChunk, Math.max(0, firstVisibleAt - this.span.startedAt) / 1000);
    if (usage !== undefined) {
      this.span
        .set(A.inputTokens, usage.inputTokens)
        .set(A.outputTokens, usage.outputTokens)
        .set(A.cachedTokens, usage.cachedInputTokens)
        .set(A.costUsd, this.trace.costOf(this.request.target, usage));
      this.trace.usage = usage;
    }
    if (this.request.stream && firstByteAt !== undefined) this.recordStream(reading, end, firstByteAt, now);
  }

  private recordStream(reading: StreamReading, end: StreamEnd, from: Milliseconds, to: Milliseconds): void {
    const span = this.recorder
      .start(SPANS.stream, {
        parent: this.span,
        at: from,
        shared: this.trace.attributesFor(this.request.target),
      })
      .set(A.streamChunks, reading.frames)
      .set(A.streamBytes, reading.bytes)
      .set(A.streamEnd, end);
    if (end === 'upstream_broken') span.markError();
    span.endAt(to);
  }
}
