import { context, createContextKey, SpanKind, trace as otelTrace } from '@opentelemetry/api';
import { GatewayError, toGatewayError, type Milliseconds, type Target } from '@weir/kernel';
import type { StreamClient, StreamReading, UpstreamAnswer, UpstreamRequest } from '@weir/upstream';
import { ATTRIBUTES as A, SPANS, type AttemptOutcome, type ResumeResult, type StreamEnd } from './names.js';
import { attemptOutcomeOf, errorTypeOf, throttleKindOf } from './outcomes.js';
import type { RecordedSpan, SpanFacts } from './recorded-span.js';
import type { RequestTrace, RequestTraces } from './request-trace.js';
import type { SpanRecorder } from './span-recorder.js';

/** Number of the attempt in whose context a connection is asked for. */
export const ATTEMPT_NUMBER = createContextKey('weir.attempt.number');

type Resume = NonNullable<UpstreamRequest['resume']>;

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

/** What an attempt's reading held at its end. Its own object would keep the answer with it. */
type Read = Omit<StreamReading, 'bufferedBytes' | 'visibleBytes'>;

/** The span of one attempt, from its first byte out to its last byte in. Ends once, whoever ends it. */
class TracedAttempt implements SpanFacts {
  private readonly span: RecordedSpan;
  private readonly target: Target;
  private readonly attempt: number;
  private readonly stream: boolean;
  private readonly resume: Resume | undefined;
  private readonly retryReason: string | undefined;
  private wasSent = false;
  private reading: StreamReading | undefined;
  private status: number | undefined;
  private read: Read | undefined;
  private outcome: AttemptOutcome = 'ok';
  private error: GatewayError | undefined;
  private resumeResult: ResumeResult | undefined;
  private early: { readonly thrown: Error | undefined } | undefined;

  constructor(
    request: UpstreamRequest,
    private readonly signal: AbortSignal,
    private readonly recorder: SpanRecorder,
    private readonly trace: RequestTrace,
  ) {
    const { target } = request;
    this.target = target;
    this.attempt = request.attempt;
    this.stream = request.stream;
    this.resume = request.resume;
    this.span = recorder.start(`${request.identity.operation} ${target.model}`, {
      kind: SpanKind.CLIENT,
      parent: trace.parent,
      link: trace.lastAttempt,
      shared: trace.attributesFor(target),
      facts: this,
    });
    if (trace.attempts > 0) this.retryReason = trace.lastRetryReason;
    trace.attempts += 1;
    trace.lastAttempt = this.span;
  }

  /**
   * The automatic client span must find this one as its parent, and only while the connection is asked for.
   * It is not made in a trace that is not exported, so nobody looks there.
   */
  inContext<Result>(run: () => Result): Result {
    if (!this.span.isExported) return run();
    const below = otelTrace.setSpan(context.active(), this.span).setValue(ATTEMPT_NUMBER, this.attempt);
    return context.with(below, run);
  }

  sent(): void {
    this.wasSent = true;
  }

  /** A good head: the attempt goes on until its reader is done with the frames. */
  opened({ status, reading }: UpstreamAnswer): void {
    this.reading = reading;
    this.status = status;
    this.wasSent = true;
    if (this.early !== undefined) this.over(this.early.thrown);
  }

  /** The reader is done with the frames. An abort can come to that before the head was looked at. */
  over(thrown?: Error): void {
    if (this.reading === undefined) this.early = { thrown };
    else if (thrown !== undefined) this.failed(thrown);
    else if (!this.span.ended) this.finish('complete');
  }

  failed(thrown: unknown): void {
    if (this.span.ended) return;
    const error = this.failureOf(thrown);
    this.error = error;
    this.outcome = attemptOutcomeOf(error);
    this.wasSent ||= error.sent;
    if (this.outcome !== 'cancelled') this.span.markError();
    this.finish(this.outcome === 'cancelled' ? 'client_gone' : 'upstream_broken');
  }

  describe(span: RecordedSpan): void {
    const { target, trace, resume, outcome, error, read } = this;
    const server = trace.serverOf(target);
    span
      .set(A.serverAddress, server.address)
      .set(A.serverPort, server.port)
      .set(A.attemptNumber, this.attempt)
      .set(A.requestStream, this.stream)
      .set(A.resumeNumber, resume?.number)
      .set(A.resumeFromChunk, resume?.fromChunk)
      .set(A.retryReason, this.retryReason)
      .set(A.httpStatus, this.status)
      .set(A.attemptOutcome, outcome);
    if (error !== undefined && outcome !== 'cancelled') describeError(span, error, outcome);
    if (read !== undefined) this.describeReading(span, read);
    if (!this.wasSent) span.set(A.attemptSent, false);
    span.set(A.resumeResult, this.resumeResult);
  }

  /** Whatever else an abort carries, the caller is why: timeouts of the adapter come as errors of its own. */
  private failureOf(thrown: unknown): GatewayError {
    if (thrown instanceof GatewayError) return thrown;
    if (this.signal.aborted) return new GatewayError('client_disconnected', 'The caller left.');
    return toGatewayError(thrown);
  }

  private finish(end: StreamEnd): void {
    const now = this.recorder.now();
    if (this.reading !== undefined) this.recordReading(this.reading, end, now);
    if (this.resume !== undefined) this.resumeResult = this.resumeResultOf(end);
    this.span.endAt(now);
  }

  /** Its reader leaves an answer before the caller does only where it is not the one that broke. */
  private resumeResultOf(end: StreamEnd): ResumeResult {
    if (end === 'complete') return 'joined';
    if (end === 'upstream_broken') return 'failed';
    return this.signal.aborted ? 'cancelled' : 'diverged';
  }

  private recordReading(reading: StreamReading, end: StreamEnd, now: Milliseconds): void {
    const { frames, bytes, usage, finishReason, responseId, responseModel } = reading;
    const { firstByteAt, firstVisibleAt } = reading;
    this.read = {
      frames,
      bytes,
      usage,
      finishReason,
      responseId,
      responseModel,
      firstByteAt,
      firstVisibleAt,
    };
    if (usage !== undefined) this.trace.usage = usage;
    // No metric derives from it, so that a trace that nobody will see has none.
    if (this.stream && firstByteAt !== undefined && this.span.isExported)
      this.recordStream(reading, end, firstByteAt, now);
  }

  private describeReading(span: RecordedSpan, read: Read): void {
    const { usage, firstVisibleAt, finishReason } = read;
    const finish = nameFrom(finishReason);
    span.set(A.responseModel, nameFrom(read.responseModel)).set(A.responseId, nameFrom(read.responseId));
    if (finish !== undefined) span.set(A.finishReasons, [finish]);
    if (this.stream && firstVisibleAt !== undefined)
      span.set(A.timeToFirstChunk, Math.max(0, firstVisibleAt - span.startedAt) / 1000);
    if (usage !== undefined) {
      span
        .set(A.inputTokens, usage.inputTokens)
        .set(A.outputTokens, usage.outputTokens)
        .set(A.cachedTokens, usage.cachedInputTokens)
        .set(A.costUsd, this.trace.costOf(this.target, usage));
    }
  }

  private recordStream(reading: StreamReading, end: StreamEnd, from: Milliseconds, to: Milliseconds): void {
    const span = this.recorder
      .start(SPANS.stream, {
        parent: this.span,
        at: from,
        shared: this.trace.attributesFor(this.target),
      })
      .set(A.streamChunks, reading.frames)
      .set(A.streamBytes, reading.bytes)
      .set(A.streamEnd, end);
    if (end === 'upstream_broken') span.markError();
    span.endAt(to);
  }
}

/** Names and ids have no blanks, and are short. Whatever else a provider has there may be content, and of any size. */
const NAME = /^[\x21-\x7e]{1,128}$/;

function nameFrom(told: string | undefined): string | undefined {
  return told !== undefined && NAME.test(told) ? told : undefined;
}

function describeError(span: RecordedSpan, error: GatewayError, outcome: AttemptOutcome): void {
  if (outcome === 'throttled') span.set(A.throttleKind, throttleKindOf(error));
  span
    .set(A.httpStatus, error.upstreamStatus)
    .set(A.errorType, errorTypeOf(error))
    .set(A.retryAfterMs, error.hintMs);
}
