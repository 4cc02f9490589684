import { Catch, HttpException, Inject, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { toGatewayError, type GatewayError } from '@weir/kernel';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { FailureLog } from './failure-log.js';
import { fromFrameworkStatus, toRefusal } from './refusal.js';

/** The one place where an error becomes an HTTP answer. */
@Catch()
export class GatewayErrorFilter implements ExceptionFilter {
  constructor(@Inject(FailureLog) private readonly log: FailureLog) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const reply = http.getResponse<FastifyReply>();
    const request = http.getRequest<FastifyRequest>();
    const error = read(thrown);
    if (error.code === 'internal') {
      if (isCut(request)) return;
      this.log.unexpected(request.id, thrown);
    }
    if (reply.sent || reply.raw.headersSent || reply.raw.destroyed) return;
    const refusal = toRefusal(error);
    void reply.status(refusal.status).headers(refusal.headers).send(refusal.body);
  }
}

/** A caller who leaves in the middle of its own request is no fault of ours. */
function isCut({ raw }: FastifyRequest): boolean {
  return raw.readableAborted && !raw.complete;
}

function read(thrown: unknown): GatewayError {
  if (thrown instanceof HttpException) return fromFrameworkStatus(thrown.getStatus(), thrown.message);
  return toGatewayError(thrown);
}
