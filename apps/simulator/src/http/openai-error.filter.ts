import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { OpenAiError } from '../answer/openai-error.js';

/** What the framework itself refuses (broken JSON, too large, no such route), in OpenAI's shape. */
@Catch()
export class OpenAiErrorFilter implements ExceptionFilter {
  catch(thrown: unknown, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    if (reply.raw.headersSent) {
      reply.raw.destroy();
      return;
    }
    const status = statusOf(thrown);
    void reply.status(status).send(ownBody(thrown) ?? { error: describe(thrown, status) });
  }
}

function statusOf(thrown: unknown): number {
  if (thrown instanceof HttpException) return thrown.getStatus();
  const status = thrown instanceof Error && 'statusCode' in thrown ? thrown.statusCode : 500;
  return typeof status === 'number' ? status : 500;
}

function ownBody(thrown: unknown): object | undefined {
  const body = thrown instanceof HttpException ? thrown.getResponse() : undefined;
  return typeof body === 'object' && 'version' in body ? body : undefined;
}

function describe(thrown: unknown, status: number): OpenAiError {
  const isOurs = status >= 500;
  const message = thrown instanceof Error && !isOurs ? thrown.message : 'The simulator failed.';
  return { message, type: isOurs ? 'server_error' : 'invalid_request_error', param: null, code: null };
}
