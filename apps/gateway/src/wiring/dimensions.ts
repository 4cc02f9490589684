import type { DimensionLimit, GatewayConfig } from '@weir/config';
import type { Milliseconds, Target } from '@weir/kernel';
import type { DimensionSpec } from '@weir/limiter';
import { breakerDimension } from '../chat/routing/target-health.js';

type Place = Pick<DimensionSpec, 'scope' | 'account' | 'model' | 'team'>;

/** Every configured limit as a dimension of the limiter, under the id that the admin API uses. */
export function dimensionsOf(config: GatewayConfig): readonly DimensionSpec[] {
  const { accounts, teams, queue } = config;
  const spread = queue.delaySpreadMs;
  return [
    ...accounts.flatMap(({ id, limits, models }) => [
      ...specs(`account:${id}`, { scope: 'account', account: id }, limits, spread),
      ...models.flatMap(({ name, limits: own }) =>
        specs(`model:${id}/${name}`, { scope: 'model', account: id, model: name }, own, spread),
      ),
    ]),
    ...teams.flatMap(({ id, limits }) => specs(`team:${id}`, { scope: 'team', team: id }, limits, spread)),
  ];
}

/**
 * A gate for each target, which its breaker moves: everything, nothing, or a few probes at a time. Not among
 * `dimensionsOf`, because no file and no person sets it.
 */
export function breakerDimensions(targets: readonly Target[]): readonly DimensionSpec[] {
  return targets.map((target) => ({
    id: breakerDimension(target),
    scope: 'model',
    ...target,
    unit: 'slots',
    limit: Infinity,
    windowMs: 60_000,
    shape: { kind: 'unknown' },
    delaySpreadMs: 0,
  }));
}

/** Every model of every account. */
export function targetsOf({ accounts }: GatewayConfig): readonly Target[] {
  return accounts.flatMap(({ id, models }) => models.map(({ name }) => ({ account: id, model: name })));
}

function specs(
  prefix: string,
  place: Place,
  limits: readonly DimensionLimit[],
  spread: Milliseconds,
): readonly DimensionSpec[] {
  return limits.map(({ unit, limit, windowMs, shape, burst }) => ({
    id: `${prefix}:${unit}`,
    ...place,
    unit,
    limit,
    windowMs,
    shape,
    ...(burst === undefined ? {} : { burst }),
    // Teams are counted here, not at a provider: nothing is delayed on the way.
    delaySpreadMs: place.scope === 'team' ? 0 : spread,
  }));
}
