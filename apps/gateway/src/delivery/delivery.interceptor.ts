import { Inject, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { toGatewayError } from '@weir/kernel';
import type { FastifyReply } from 'fastify';
import { Observable } from 'rxjs';
import { AnswerWriter } from './answer-writer.js';
import { FailureLog } from './failure-log.js';
import { OpenAnswers } from './open-answers.js';
import { isHead, type AnswerHead, type Outgoing } from './outgoing.js';
import { RequestSpans } from './request-spans.js';
import type { Offer } from './to-observable.js';

/**
 * Delivers what a controller's Observable offers. Before the first head an error goes on to the filter and becomes a
 * status, after it an in-band event. A caller who leaves unsubscribes, which aborts the provider.
 * Nest's `@Sse()` is not used: it sends 200 before the first frame is known, and never pauses the producer
 * (docs/decisions/0004).
 */
export class DeliveryInterceptor implements NestInterceptor<Offer<Outgoing>, undefined> {
  constructor(
    @Inject(OpenAnswers) private readonly answers: OpenAnswers,
    @Inject(RequestSpans) private readonly spans: RequestSpans,
    @Inject(FailureLog) private readonly log: FailureLog,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler<Offer<Outgoing>>): Observable<undefined> {
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    return new Observable((subscriber) => {
      // Nest takes the last value and calls an Observable without one a fault; with `@Res()` it does not send it.
      const over = (): void => {
        subscriber.next(undefined);
        subscriber.complete();
      };
      const writer = new AnswerWriter(reply.raw);
      const forget = this.answers.add(writer);
      const subscription = next.handle().subscribe({
        next: (offer) => {
          this.deliver(offer, writer, reply);
        },
        error: (thrown: unknown) => {
          if (!writer.started) {
            subscriber.error(thrown);
            return;
          }
          const error = toGatewayError(thrown);
          if (error.code === 'internal') this.log.unexpected(reply.request.id, thrown);
          writer.fail(error);
          over();
        },
        complete: () => {
          writer.end();
          over();
        },
      });
      reply.raw.once('close', () => {
        forget();
        // Nobody is left to answer to: without this Fastify would still wait for a reply.
        if (!reply.sent) reply.hijack();
        subscription.unsubscribe();
        over();
      });
    });
  }

  private deliver({ value, hold }: Offer<Outgoing>, writer: AnswerWriter, reply: FastifyReply): void {
    const full = isHead(value) ? this.start(value, writer, reply) : writer.write(value.bytes);
    if (full) hold(full);
  }

  /** A caller that is only kept company has no answer yet. */
  private start(head: AnswerHead, writer: AnswerWriter, reply: FastifyReply): Promise<void> | undefined {
    if (!writer.started) reply.hijack();
    if (head.early !== true) this.spans.request(reply.request.raw).committed();
    return writer.start(head, reply.request.id);
  }
}
