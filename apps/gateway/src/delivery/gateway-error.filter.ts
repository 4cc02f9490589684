import { Catch, HttpException, Inject, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { toGatewayError, type GatewayError } from '@weir/kernel';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { TeamDirectory } from '../access/team-directory.js';
import { callerOf, type TeamHolder } from '../access/team.guard.js';
import { FailureLog } from './failure-log.js';
import { RequestSpans } from './request-spans.js';
import { fromFrameworkStatus, toRefusal } from './refusal.js';
import { whenDiscarded } from './unread-body.js';

/** The one place where an error becomes an HTTP answer. */
@Catch()
export class GatewayErrorFilter implements ExceptionFilter {
  constructor(
    @Inject(FailureLog) private readonly log: FailureLog,
    @Inject(RequestSpans) private readonly spans: RequestSpans,
    @Inject(TeamDirectory) private readonly directory: TeamDirectory<TeamHolder>,
  ) {}

  async catch(thrown: unknown, host: ArgumentsHost): Promise<void> {
    const http = host.switchToHttp();
    const reply = http.getResponse<FastifyReply>();
    const request = http.getRequest<FastifyRequest>();
    const error = read(thrown);
    if (error.code === 'internal') {
      if (isCut(request)) return;
      this.log.unexpected(request.id, thrown);
    }
    this.count(request, error);
    if (error.code === 'body_too_large') await whenDiscarded(request.raw);
    if (reply.sent || reply.raw.headersSent || reply.raw.destroyed) return;
    const refusal = toRefusal(error);
    void reply.status(refusal.status).headers(refusal.headers).send(refusal.body);
  }

  /** What the controller took on is finished by it; here it is everything that was refused before. */
  private count(request: FastifyRequest, error: GatewayError): void {
    if (error.code === 'body_too_large') this.introduce(request);
    this.spans.request(request.raw).finish(error);
  }

  /** Refused while it was read, before a guard could ask who sends it. */
  private introduce(request: FastifyRequest): void {
    try {
      callerOf(request, this.directory, this.spans);
    } catch {
      // A key that nobody has is no team's.
    }
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
