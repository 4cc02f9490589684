import { SpanKind } from '@opentelemetry/api';
import type { Instruments } from './instruments.js';
import type { LabelGuard } from './label-guard.js';
import { ATTRIBUTES as A, SPANS } from './names.js';
import type { RecordedSpan } from './recorded-span.js';
import type { SpanSink } from './span-recorder.js';

/**
 * The exact metrics: each is a count, a sum or a distribution over spans that ended in this process, whatever share of
 * them is exported. The collector's `span_metrics` is the second, independent path.
 */
export class SpanMetrics implements SpanSink {
  constructor(
    private readonly instruments: Instruments,
    private readonly guard: LabelGuard,
  ) {}

  ended(span: RecordedSpan): void {
    switch (span.name) {
      case SPANS.queueWait:
        this.waitEnded(span);
        return;
      case SPANS.acquire:
        this.acquireEnded(span);
        return;
      case SPANS.refund:
        this.refundEnded(span);
        return;
      case SPANS.retry:
        this.retryEnded(span);
        return;
      case SPANS.stream:
        return;
      default:
        if (span.kind === SpanKind.SERVER) this.requestEnded(span);
        else if (span.read(A.attemptNumber) !== undefined) this.attemptEnded(span);
    }
  }

  private requestEnded(span: RecordedSpan): void {
    const { requests, clientFirstChunk, serverDuration } = this.instruments;
    const status = quantity(span, A.httpStatus);
    serverDuration.record(span.seconds, word(span, A.httpRoute), status === undefined ? '' : String(status));
    const outcome = word(span, A.outcome);
    if (outcome === '') return;
    const model = this.model(span);
    const priority = word(span, A.priority) || 'normal';
    const template = this.guard.template(word(span, A.promptName) || 'none');
    requests.add(1, model, this.guard.team(word(span, A.team)), template, priority, outcome);
    const firstChunk = quantity(span, A.clientTimeToFirstChunk);
    if (firstChunk !== undefined) clientFirstChunk.record(firstChunk, model, priority);
  }

  private waitEnded(span: RecordedSpan): void {
    const result = word(span, A.waitResult);
    this.instruments.queueWait.record(span.seconds, this.model(span), word(span, A.priority), result);
  }

  private acquireEnded(span: RecordedSpan): void {
    const { acquireWait, tokensReserved } = this.instruments;
    const model = this.model(span);
    const result = word(span, A.waitResult);
    acquireWait.record(span.seconds, model, word(span, A.bucket), result);
    if (result === 'granted') {
      const team = this.guard.team(word(span, A.team));
      tokensReserved.add(quantity(span, A.tokensRequested) ?? 0, model, team);
    }
  }

  private refundEnded(span: RecordedSpan): void {
    const { refunds, tokensRefunded } = this.instruments;
    const model = this.model(span);
    const reason = word(span, A.refundReason);
    refunds.add(1, model, word(span, A.bucket), reason);
    const tokens = quantity(span, A.tokensRefunded);
    if (tokens !== undefined) tokensRefunded.add(tokens, model, this.guard.team(word(span, A.team)), reason);
  }

  private retryEnded(span: RecordedSpan): void {
    const { retries, backoff } = this.instruments;
    const provider = word(span, A.provider);
    const model = this.model(span);
    const result = word(span, A.retryResult);
    retries.add(1, provider, model, word(span, A.retryReason), result);
    if (result === 'scheduled') backoff.record(span.seconds, provider, model);
  }

  private attemptEnded(span: RecordedSpan): void {
    const { attempts, unsent, throttled, retries, resumes } = this.instruments;
    const provider = word(span, A.provider);
    const model = this.model(span);
    const account = word(span, A.account);
    const outcome = word(span, A.attemptOutcome);
    const sent = span.read(A.attemptSent) !== false;
    (sent ? attempts : unsent).add(1, provider, model, account, outcome);
    const resumed = word(span, A.resumeResult);
    if (resumed !== '') resumes.add(1, model, resumed);
    if (!sent) return;
    if (outcome === 'throttled') {
      const team = this.guard.team(word(span, A.team));
      const template = this.guard.template(word(span, A.promptName));
      throttled.add(1, provider, model, account, team, template, word(span, A.throttleKind));
    }
    const reason = word(span, A.retryReason);
    if (outcome === 'ok' && reason !== '') retries.add(1, provider, model, reason, 'recovered');
    this.answerEnded(span, provider, model, outcome);
  }

  /** Tokens count only where the answer came whole, as the provider's own ledger has it. */
  private answerEnded(span: RecordedSpan, provider: string, model: string, outcome: string): void {
    const { inferenceDuration, providerFirstChunk, inputTokens, outputTokens, costUsd } = this.instruments;
    const operation = word(span, A.operation);
    inferenceDuration.record(span.seconds, provider, model, operation, word(span, A.errorType));
    const firstChunk = quantity(span, A.timeToFirstChunk);
    if (firstChunk !== undefined) providerFirstChunk.record(firstChunk, provider, model);
    const cost = quantity(span, A.costUsd);
    if (cost !== undefined) {
      const team = this.guard.team(word(span, A.team));
      costUsd.add(cost, provider, model, team, this.guard.template(word(span, A.promptName)));
    }
    if (outcome !== 'ok') return;
    const input = quantity(span, A.inputTokens);
    const output = quantity(span, A.outputTokens);
    if (input !== undefined) inputTokens.add(input, provider, model, operation, 'text');
    if (output !== undefined) outputTokens.add(output, provider, model, operation, 'text');
  }

  private model(span: RecordedSpan): string {
    return this.guard.model(word(span, A.requestModel));
  }
}

function word(span: RecordedSpan, name: string): string {
  const value = span.read(name);
  return typeof value === 'string' ? value : '';
}

function quantity(span: RecordedSpan, name: string): number | undefined {
  const value = span.read(name);
  return typeof value === 'number' ? value : undefined;
}
