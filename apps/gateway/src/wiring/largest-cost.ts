import type { DimensionLimit, GatewayConfig } from '@weir/config';
import type { Target, Tokens } from '@weir/kernel';
import type { LargestCost } from '@weir/limiter';

/** Most of a limit that one request may take: of a bucket its capacity, of slices one of them. */
export function atOnce({ limit, shape, windowMs }: DimensionLimit): number {
  if (shape.kind === 'bucket') return Math.min(limit, shape.capacity);
  if (shape.kind !== 'quantum') return limit;
  return Math.min(limit, Math.max(1, Math.floor((limit * shape.quantumMs) / windowMs)));
}

/** What one request of a team may cost at a target, as the file says. Infinity where it does not limit that. */
export function largestCost({ accounts, teams }: GatewayConfig, team: string, target: Target): LargestCost {
  const account = accounts.find(({ id }) => id === target.account);
  const limits = [
    account?.limits,
    account?.models.find(({ name }) => name === target.model)?.limits,
    teams.find(({ id }) => id === team)?.limits,
  ].flatMap((some) => some ?? []);
  const least = (unit: DimensionLimit['unit']): Tokens =>
    Math.min(Infinity, ...limits.filter((each) => each.unit === unit).map(atOnce));
  return {
    tokens: least('tokens'),
    inputTokens: least('input_tokens'),
    outputTokens: least('output_tokens'),
  };
}
