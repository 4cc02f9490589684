import { Inject, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Drain } from '../health/drain.js';
import { TeamDirectory, type KeyHolder } from './team-directory.js';

/** A team as callers are known. */
export interface TeamHolder extends KeyHolder {
  readonly id: string;
}

const callers = new WeakMap<FastifyRequest, string>();

/** The first step of every call to a provider: is there room for new work at all, and who asks? */
export class TeamGuard implements CanActivate {
  constructor(
    @Inject(TeamDirectory) private readonly directory: TeamDirectory<TeamHolder>,
    @Inject(Drain) private readonly drain: Drain,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    this.drain.assertOpen();
    callers.set(
      request,
      this.directory.holderOf(request.headers.authorization, request.socket.remoteAddress).id,
    );
    return true;
  }
}

/** The team that the guard found for a request. */
export function teamOf(request: FastifyRequest): string {
  const team = callers.get(request);
  if (team === undefined) throw new Error('the route has no TeamGuard');
  return team;
}
