import { isDeepStrictEqual } from 'node:util';
import { formatPath, type Fault, type FieldPath } from './fault.js';
import type { DimensionLimit, GatewayConfig } from './gateway-config.js';
import { Secret } from './secret.js';

/**
 * What `next` changes and a running gateway cannot follow: everything but routes, keys, `queue.maxWaitMs` and the
 * numbers of limits that exist. A reload that asks for one of these is refused whole, so that what runs is always
 * one configuration and never a mixture.
 */
export function restartsNeeded(running: GatewayConfig, next: GatewayConfig): readonly Fault[] {
  return differences(fixedParts(running), fixedParts(next), []).map((path) => ({
    path: formatPath(path),
    value: 'changed',
    allowed: 'a change only with a restart',
  }));
}

/** The configuration without what may change while it runs. Entries go by their names, not by their places. */
function fixedParts(config: GatewayConfig): unknown {
  const { accounts, teams, server, timeouts, breaker, queue, retry, store, disconnect } = config;
  return {
    accounts: byName(
      accounts,
      ({ id }) => id,
      (account) => ({
        ...account,
        limits: withoutNumbers(account.limits),
        models: byName(
          account.models,
          ({ name }) => name,
          (model) => ({ ...model, limits: withoutNumbers(model.limits) }),
        ),
      }),
    ),
    teams: byName(
      teams,
      ({ id }) => id,
      ({ limits, ...team }) => ({
        ...team,
        keys: undefined,
        limits: withoutNumbers(limits),
      }),
    ),
    queue: { ...queue, maxWaitMs: undefined },
    ...{ server, timeouts, breaker, retry, store, disconnect },
  };
}

function withoutNumbers(limits: readonly DimensionLimit[]): unknown {
  return byName(
    limits,
    ({ unit }) => unit,
    (limit) => ({ ...limit, limit: undefined }),
  );
}

function byName<Entry>(
  entries: readonly Entry[],
  nameOf: (entry: Entry) => string,
  show: (entry: Entry) => unknown,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(entries.map((entry) => [nameOf(entry), show(entry)]));
}

/** Where two values differ, as deep as both are maps. */
function differences(left: unknown, right: unknown, path: FieldPath): readonly FieldPath[] {
  if (left instanceof Secret && right instanceof Secret)
    return left.reveal() === right.reveal() ? [] : [path];
  if (!isMap(left) || !isMap(right)) return isDeepStrictEqual(left, right) ? [] : [path];
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...names].flatMap((name) => differences(left[name], right[name], [...path, name]));
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Secret);
}
