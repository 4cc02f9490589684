import { Inject, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { templateNamed } from '../chat/call-headers.js';
import { RequestSpans } from '../delivery/request-spans.js';
import { Drain } from '../health/drain.js';
import { TeamDirectory, type KeyHolder } from './team-directory.js';

/** A team as callers are known. */
export interface TeamHolder extends KeyHolder {
  readonly id: string;
}

const TEAM = Symbol('team');

/** On the request itself: a weak map of requests costs more in garbage collection than everything that the guard does. */
interface Introduced {
  [TEAM]?: string;
}

/** The first step of every call to a provider: who asks, and is there room for new work at all? */
export class TeamGuard implements CanActivate {
  constructor(
    @Inject(TeamDirectory) private readonly directory: TeamDirectory<TeamHolder>,
    @Inject(Drain) private readonly drain: Drain,
    @Inject(RequestSpans) private readonly spans: RequestSpans,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    (request as Introduced)[TEAM] = callerOf(request, this.directory, this.spans);
    this.drain.assertOpen();
    return true;
  }
}

/**
 * Finds out who asks, and tells telemetry, so that whatever is refused from here on counts for its team.
 * @throws GatewayError `unauthorized`
 */
export function callerOf(
  request: FastifyRequest,
  directory: TeamDirectory<TeamHolder>,
  spans: RequestSpans,
): string {
  const { headers, raw, socket } = request;
  const { id } = directory.holderOf(headers.authorization, socket.remoteAddress);
  spans.request(raw).caller(id, templateNamed(headers));
  return id;
}

/** The team that the guard found for a request. */
export function teamOf(request: FastifyRequest): string {
  const team = (request as Introduced)[TEAM];
  if (team === undefined) throw new Error('the route has no TeamGuard');
  return team;
}
