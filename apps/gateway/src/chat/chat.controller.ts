import { Controller, Inject, Post, Req, Res, UseGuards, UseInterceptors } from '@nestjs/common';
import { toGatewayError } from '@weir/kernel';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
import { TeamGuard, teamOf } from '../access/team.guard.js';
import { DeliveryInterceptor } from '../delivery/delivery.interceptor.js';
import type { Outgoing } from '../delivery/outgoing.js';
import { RequestSpans } from '../delivery/request-spans.js';
import { toObservable, type Offer } from '../delivery/to-observable.js';
import { CallReader } from './call-reader.js';
import { ChatPipeline } from './chat-pipeline.js';

const NO_BODY = Buffer.alloc(0);

/** OpenAI's chat endpoint. */
@Controller('v1')
@UseGuards(TeamGuard)
@UseInterceptors(DeliveryInterceptor)
export class ChatController {
  constructor(
    @Inject(CallReader) private readonly reader: CallReader,
    @Inject(ChatPipeline) private readonly pipeline: ChatPipeline,
    @Inject(RequestSpans) private readonly spans: RequestSpans,
  ) {}

  /** Returns a cold Observable at once; the delivery interceptor subscribes. `@Res()` tells Nest not to answer itself. */
  @Post('chat/completions')
  completions(
    @Req() request: FastifyRequest<{ Body: Buffer | undefined }>,
    @Res() _reply: FastifyReply,
  ): Observable<Offer<Outgoing>> {
    const { id, headers, body = NO_BODY } = request;
    const call = this.reader.read({ requestId: id, team: teamOf(request), headers, body });
    const span = this.spans.request(request.raw);
    span.identify(call.identity, call.cost.inputTokens + call.cost.outputTokens);
    return toObservable(
      (signal) => this.pipeline.run(call, signal),
      (thrown) => {
        span.finish(thrown === undefined ? undefined : toGatewayError(thrown));
      },
    );
  }
}
