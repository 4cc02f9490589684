import type { GatewayConfig, MidStreamPolicy } from '@weir/config';
import type { Target } from '@weir/kernel';

/** What is configured for a target's streams that break. */
export function midStreamPolicies({ accounts }: GatewayConfig): (target: Target) => MidStreamPolicy {
  const policies = new Map(
    accounts.map(({ id, models }) => [id, new Map(models.map(({ name, midStream }) => [name, midStream]))]),
  );
  return ({ account, model }) => policies.get(account)?.get(model) ?? 'fail';
}
