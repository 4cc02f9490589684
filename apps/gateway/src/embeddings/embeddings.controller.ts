import { Controller, Inject, Post, Req, Res, UseGuards, UseInterceptors } from '@nestjs/common';
import { toGatewayError } from '@weir/kernel';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
import { TeamGuard, teamOf } from '../access/team.guard.js';
import { CallReader } from '../chat/call-reader.js';
import { ChatPipeline } from '../chat/chat-pipeline.js';
import { DeliveryInterceptor } from '../delivery/delivery.interceptor.js';
import type { Outgoing } from '../delivery/outgoing.js';
import { RequestSpans } from '../delivery/request-spans.js';
import { toObservable, type Offer } from '../delivery/to-observable.js';

const NO_BODY = Buffer.alloc(0);

/** OpenAI's embeddings endpoint: the path of a chat request that asks for no stream. */
@Controller('v1')
@UseGuards(TeamGuard)
@UseInterceptors(DeliveryInterceptor)
export class EmbeddingsController {
  constructor(
    @Inject(CallReader) private readonly reader: CallReader,
    @Inject(ChatPipeline) private readonly pipeline: ChatPipeline,
    @Inject(RequestSpans) private readonly spans: RequestSpans,
  ) {}

  /** As the chat endpoint: a cold Observable, which the delivery interceptor subscribes to. */
  @Post('embeddings')
  embeddings(
    @Req() request: FastifyRequest<{ Body: Buffer | undefined }>,
    @Res() _reply: FastifyReply,
  ): Observable<Offer<Outgoing>> {
    const { id, headers, body = NO_BODY } = request;
    const call = this.reader.readEmbedding({ requestId: id, team: teamOf(request), headers, body });
    const span = this.spans.request(request.raw);
    span.identify(call.identity, call.cost.inputTokens);
    return toObservable(
      (signal) => this.pipeline.run(call, signal),
      (thrown) => {
        span.finish(thrown === undefined ? undefined : toGatewayError(thrown));
      },
    );
  }
}
