import { splitTarget } from './check-references.js';
import type { ConfigFile } from './schema.js';

/** What is legal, but perhaps not what was meant. */
export function noticesOf(file: ConfigFile): readonly string[] {
  return [...unpaced(file), ...idleLimits(file), ...borrowedNames(file), ...restarting(file)];
}

/** Without any limit the gateway can only react to 429s. */
function unpaced(file: ConfigFile): readonly string[] {
  return file.accounts
    .filter(
      (account) =>
        isEmpty(account.limits) && Object.values(account.models).some(({ limits }) => isEmpty(limits)),
    )
    .map(({ id }) => `Account ${id} has no limits: its requests are not paced.`);
}

const QUANTITIES = [
  'requestsPerMinute',
  'tokensPerMinute',
  'inputTokensPerMinute',
  'outputTokensPerMinute',
  'requestsPerDay',
  'concurrency',
] as const;

/** A model limit above its account's never binds: legal, because a provider's own table may read so. */
function idleLimits(file: ConfigFile): readonly string[] {
  return file.accounts.flatMap(({ id, limits: whole = {}, models }) =>
    Object.entries(models).flatMap(([name, { limits = {} }]) =>
      QUANTITIES.filter((quantity) => (limits[quantity] ?? 0) > (whole[quantity] ?? Infinity)).map(
        (quantity) =>
          `Model ${id}/${name}: its ${quantity} is above the account's, which therefore binds first.`,
      ),
    ),
  );
}

/** A route that has a model's name but does not serve it shadows that model. */
function borrowedNames(file: ConfigFile): readonly string[] {
  const models = new Set(file.accounts.flatMap((account) => Object.keys(account.models)));
  return Object.entries(file.routes ?? {})
    .filter(
      ([name, { targets }]) =>
        models.has(name) && !targets.some((target) => splitTarget(target).model === name),
    )
    .map(([name]) => `Route ${name} has the name of a model that it does not serve first.`);
}

/** Providers that begin anew after an assistant message at the end, or go on only with a flag of their own (2026-11). */
const RESTARTING: ReadonlySet<string> = new Set(['openai', 'azure', 'mistral', 'deepseek', 'vllm']);

/** Nobody could tell a continued answer from one that begins anew in the middle of the other. */
function restarting(file: ConfigFile): readonly string[] {
  return file.accounts
    .filter(({ profile }) => RESTARTING.has(profile))
    .flatMap(({ id, profile, models }) =>
      Object.entries(models)
        .filter(([, { midStream }]) => midStream === 'continue')
        .map(
          ([name]) =>
            `Model ${id}/${name} is to continue broken streams, but ${profile} does not go on with an assistant message at the end.`,
        ),
    );
}

function isEmpty(limits: object | undefined): boolean {
  return Object.keys(limits ?? {}).length === 0;
}
