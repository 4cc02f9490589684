import { GatewayError, type Clock, type Milliseconds } from '@weir/kernel';
import type { Limiter, Permit } from '@weir/limiter';
import type { ChatCall } from './chat-call.js';

/** Where nobody can know when there is room again. */
const UNKNOWN_HINT_MS: Milliseconds = 60_000;

/**
 * The last look at a caller's deadline. Between a grant and the code that sends it lie a few promises, and a process
 * may stand still there for seconds; nothing leaves for a caller who has given up by then. What opening a connection
 * takes is not looked at again: `timeouts.connectMs` bounds it, and a caller with little patience would never get one.
 */
export class Departure {
  constructor(
    private readonly limiter: Pick<Limiter, 'eta'>,
    private readonly clock: Clock,
  ) {}

  /**
   * Call it in the same step as the sending. A permit that comes too late is given back whole: nothing was sent.
   * @throws GatewayError `wait_exceeds_deadline`
   */
  check({ identity, arrivedAt, deadline }: ChatCall, permit: Permit): void {
    const now = this.clock.now();
    if (now <= deadline) return;
    permit.cancel();
    const roomIn = this.limiter.eta(identity, { target: permit.target, cost: permit.reserved }) - now;
    throw new GatewayError(
      'wait_exceeds_deadline',
      `The request waited ${((now - arrivedAt) / 1000).toFixed(1)} s and reached its deadline before it could be sent. Retry after the time given.`,
      { retryable: true, hintMs: Number.isFinite(roomIn) ? Math.max(1, roomIn) : UNKNOWN_HINT_MS },
    );
  }
}
