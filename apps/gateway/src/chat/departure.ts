import { GatewayError, type Clock, type Milliseconds } from '@weir/kernel';
import type { Limiter, Permit } from '@weir/limiter';
import { LEAST_WAIT_MS } from './call-reader.js';
import type { ChatCall } from './chat-call.js';

/** Where nobody can know when there is room again. */
const UNKNOWN_HINT_MS: Milliseconds = 60_000;

/**
 * The last looks at a caller's deadline. Between a grant and the bytes that it lets out lie a few promises and perhaps a
 * new connection, and a process may stand still there for seconds; nothing leaves for a caller who has given up by then.
 */
export class Departure {
  constructor(
    private readonly limiter: Pick<Limiter, 'eta'>,
    private readonly clock: Clock,
  ) {}

  /**
   * Before a connection is asked for. A permit that comes too late is given back whole: nothing was sent.
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

  /**
   * When the connection is there. Who was let through without waiting is sent however long that took: `timeouts.connectMs`
   * bounds it, and who does not want to queue would else never get through to a provider that is far away.
   * @throws GatewayError `wait_exceeds_deadline`
   */
  checkConnected(call: ChatCall, permit: Permit): void {
    if (permit.grantedAt - call.arrivedAt > LEAST_WAIT_MS) this.check(call, permit);
  }
}
