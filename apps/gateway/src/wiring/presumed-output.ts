import type { GatewayConfig } from '@weir/config';
import type { Tokens } from '@weir/kernel';
import { atOnce } from './largest-cost.js';

/** Output supposed of a request that names no bound, while nothing was learned of its like. */
const USUAL_OUTPUT: Tokens = 1024;
/** No such guess may take more of a limit than this share, or small limits would refuse every first call. */
const SHARE = 1 / 8;

/** The usual guess, or less where a token limit, or what it holds at once, is small. */
export function presumedOutput({ accounts, teams }: GatewayConfig): Tokens {
  const limits = [
    ...accounts.flatMap(({ limits: own, models }) => [own, ...models.map((model) => model.limits)]),
    ...teams.map((team) => team.limits),
  ].flat();
  const tokens = limits.filter(({ unit }) => unit === 'tokens' || unit === 'output_tokens');
  return Math.max(1, Math.min(USUAL_OUTPUT, ...tokens.map((limit) => Math.floor(atOnce(limit) * SHARE))));
}
