import type { GatewayConfig } from '@weir/config';
import type { Clock, Milliseconds, Random, Timers } from '@weir/kernel';
import { createLimiter, type PacedLimiter } from '@weir/limiter';
import { breakerDimensions, dimensionsOf, targetsOf } from './dimensions.js';

/** How much longer than the longest call a slot is kept before it counts as leaked. */
const LEASE_BEYOND_CALL_MS: Milliseconds = 60_000;

/**
 * The limiter of this process, from the configuration.
 * @param live asked for `queue.maxWaitMs` at each request; everything else is taken once
 */
export function buildLimiter(
  live: { readonly current: GatewayConfig },
  { time, random }: { readonly time: Clock & Timers; readonly random: Random },
): PacedLimiter {
  const { accounts, teams, queue, timeouts } = live.current;
  const refunding = accounts.filter(({ refundRequestsOn429 }) => refundRequestsOn429).map(({ id }) => id);
  return createLimiter({
    dimensions: [...dimensionsOf(live.current), ...breakerDimensions(targetsOf(live.current))],
    teams,
    queue: {
      maxDepth: queue.maxDepth,
      maxDepthPerTeam: queue.maxDepthPerTeam,
      get maxWaitMs() {
        return live.current.queue.maxWaitMs;
      },
    },
    clock: time,
    timers: time,
    random,
    refundRequestsOn429: new Set(refunding),
    // Every permit holds the slot of its breaker, so a lease has to outlast every call that may be.
    slotLeaseMs: timeouts.totalMs + LEASE_BEYOND_CALL_MS,
  });
}
