import { Inject, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { KeyHolder, TeamDirectory } from './team-directory.js';

/** Injection token of the directory of admin keys. */
export const AdminDirectory = Symbol('AdminDirectory');

/** Lets holders of an admin key in, also while draining: that is when an operator looks. */
export class AdminGuard implements CanActivate {
  constructor(@Inject(AdminDirectory) private readonly directory: TeamDirectory<KeyHolder>) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    this.directory.holderOf(request.headers.authorization, request.socket.remoteAddress);
    return true;
  }
}
