import { Controller, Get, Inject, Param, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ModelApi, type HttpCall } from './model-api.js';

/** The door of the provider: it hands calls over and writes nothing itself. */
@Controller('v1')
export class ModelController {
  constructor(@Inject(ModelApi) private readonly api: ModelApi) {}

  @Post('chat/completions')
  async chat(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await this.api.chat(takeOver(request, reply));
  }

  @Post('embeddings')
  async embeddings(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await this.api.embeddings(takeOver(request, reply));
  }

  @Get('models')
  async models(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await this.api.models(takeOver(request, reply));
  }

  @Get('models/*')
  async model(
    @Param('*') id: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.api.modelById(takeOver(request, reply), id);
  }
}

/** From here on the response is ours: Fastify must not end it. */
function takeOver({ headers, body }: FastifyRequest, reply: FastifyReply): HttpCall {
  reply.hijack();
  return { headers, body, response: reply.raw };
}
