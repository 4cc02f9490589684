import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { OpenAiError } from '../answer/openai-error.js';
import { InvalidInput } from '../control/invalid-input.js';

/** What the framework itself refuses (broken JSON, too large, no such route), in OpenAI's shape. */
@Catch()
export class OpenAiErrorFilter implements ExceptionFilter {
  catch(thrown: unknown, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const { url } = host.switchToHttp().getRequest<FastifyRequest>();
    if (reply.raw.headersSent) {
      reply.raw.destroy();
      return;
    }
    const status = statusOf(thrown);
    const error = inputError(thrown) ?? describe(thrown, status);
    void reply.status(status).send({ ...(url.startsWith('/_sim') && { version: 1 }), error });
  }
}

function statusOf(thrown: unknown): number {
  if (thrown instanceof InvalidInput) return 400;
  if (thrown instanceof HttpException) return thrown.getStatus();
  const status = thrown instanceof Error && 'statusCode' in thrown ? thrown.statusCode : 500;
  return typeof status === 'number' ? status : 500;
}

function inputError(thrown: unknown): OpenAiError | undefined {
  return thrown instanceof InvalidInput ? thrown.error : undefined;
}

function describe(thrown: unknown, status: number): OpenAiError {
  const isOurs = status >= 500;
  const message = thrown instanceof Error && !isOurs ? thrown.message : 'The simulator failed.';
  return { message, type: isOurs ? 'server_error' : 'invalid_request_error', param: null, code: null };
}
