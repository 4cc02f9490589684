import { Controller, Get, Inject, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Drain } from './drain.js';

/** Alive and ready, for orchestrators and load balancers. */
@Controller()
export class HealthController {
  constructor(@Inject(Drain) private readonly drain: Drain) {}

  /** 200 as long as the process can answer. */
  @Get('healthz')
  healthz(): { status: string } {
    return { status: 'ok' };
  }

  /** 200 while new work is taken, 503 while draining. */
  @Get('readyz')
  readyz(@Res({ passthrough: true }) reply: FastifyReply): { status: string } {
    if (!this.drain.draining) return { status: 'ready' };
    reply.status(503);
    return { status: 'draining' };
  }
}
