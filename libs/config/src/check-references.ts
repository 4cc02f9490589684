import type { DraftFile } from './check-form.js';
import { closest, didYouMean } from './closest.js';
import { formatPath, type Fault, type FieldPath } from './fault.js';

/** Names that do not lead anywhere, stand twice, or that nothing leads to. */
export function checkReferences(draft: DraftFile): readonly Fault[] {
  return [
    ...unique('accounts', draft.accounts ?? []),
    ...checkRoutes(draft),
    ...unreachable(draft),
    ...unique('teams', draft.teams ?? []),
    ...checkKeys(draft),
    ...checkTemplates(draft),
    ...checkBudgets(draft),
    ...checkStore(draft.store),
    ...checkBreaker(draft.breaker),
    ...checkQueue(draft.queue),
  ];
}

/** `account/model`, split at the first slash: models may have slashes of their own. */
export function splitTarget(target: string): { readonly account: string; readonly model: string } {
  const slash = target.indexOf('/');
  return { account: target.slice(0, slash), model: target.slice(slash + 1) };
}

function unique(
  list: 'accounts' | 'teams',
  entries: readonly ({ readonly id?: string | undefined } | undefined)[],
): readonly Fault[] {
  const ids = entries.map((entry) => entry?.id);
  return ids.flatMap((id, index) => {
    const first = ids.indexOf(id);
    if (id === undefined || first === index) return [];
    return [fault([list, index, 'id'], id, `an id other than that of ${list}[${first}]`)];
  });
}

interface WrittenTarget {
  readonly target: string;
  readonly path: FieldPath;
}

function writtenTargets(draft: DraftFile): readonly (readonly WrittenTarget[])[] {
  return Object.entries(draft.routes ?? {}).map(([name, route]) =>
    (['targets', 'fallback'] as const).flatMap((list) =>
      (route?.[list] ?? []).flatMap((target, index) =>
        target === undefined ? [] : [{ target, path: ['routes', name, list, index] }],
      ),
    ),
  );
}

function checkRoutes(draft: DraftFile): readonly Fault[] {
  return writtenTargets(draft).flatMap((targets) =>
    targets.flatMap(({ target, path }, index) => {
      const first = targets.findIndex((other) => other.target === target);
      const earlier = targets[first];
      if (earlier && first < index)
        return [fault(path, target, `a target other than ${formatPath(earlier.path)}`)];
      return checkTarget(draft, target, path);
    }),
  );
}

function checkTarget(draft: DraftFile, target: string, path: FieldPath): readonly Fault[] {
  const accounts = draft.accounts ?? [];
  // Behind an account that is itself at fault, nobody can tell what it would have been.
  if (accounts.length === 0 || accounts.some((account) => account?.id === undefined)) return [];
  const { account: id, model } = splitTarget(target);
  const holders = accounts.filter((account) => account?.id === id);
  if (holders.length === 0) {
    const ids = [...new Set(accounts.flatMap((account) => account?.id ?? []))];
    return [fault(path, target, `one of the accounts: ${ids.join(', ')}${didYouMean(id, ids)}`)];
  }
  if (holders.some((account) => account?.models === undefined)) return [];
  const models = holders.flatMap((account) => Object.keys(account?.models ?? {}));
  if (models.includes(model)) return [];
  return [fault(path, target, `a model of ${id}: ${models.join(', ')}${didYouMean(model, models)}`)];
}

/** With routes of one's own, a model that none of them names can never be called. */
function unreachable(draft: DraftFile): readonly Fault[] {
  if (!('routes' in draft)) return [];
  const routes = Object.values(draft.routes ?? {});
  const damaged =
    routes.length === 0 || routes.some((route) => !route?.targets || hasHole(route.targets, route.fallback));
  if (damaged) return [];
  const reached = new Set(
    writtenTargets(draft).flatMap((targets) => targets.map(({ target }) => meant(draft, target))),
  );
  return (draft.accounts ?? []).flatMap((account, index) =>
    Object.keys(account?.models ?? {})
      .filter((model) => account?.id !== undefined && !reached.has(`${account.id}/${model}`))
      .map((model) =>
        fault(['accounts', index, 'models', model], 'no route leads here', 'a model that a route names'),
      ),
  );
}

/** The target that was probably meant: a slip is named where it stands, and what it missed is no second fault. */
function meant({ accounts = [] }: DraftFile, target: string): string {
  const written = splitTarget(target);
  const ids = accounts.flatMap((account) => account?.id ?? []);
  const id = closest(written.account, ids) ?? written.account;
  const models = accounts
    .filter((account) => account?.id === id)
    .flatMap((account) => Object.keys(account?.models ?? {}));
  return `${id}/${closest(written.model, models) ?? written.model}`;
}

function hasHole(...lists: readonly (readonly unknown[] | undefined)[]): boolean {
  return lists.some((list) => list?.includes(undefined));
}

/** A key that opens two doors would be booked to one of them by chance. */
function checkKeys(draft: DraftFile): readonly Fault[] {
  const admin = (draft.server?.adminKeys ?? []).map((key, index) => ({
    key,
    path: ['server', 'adminKeys', index],
  }));
  const team = (draft.teams ?? []).flatMap((each, at) =>
    (each?.keys ?? []).map((key, index) => ({ key, path: ['teams', at, 'keys', index] })),
  );
  const keys = [...team, ...admin].map(({ key, path }) => ({ key: key?.toLowerCase(), path }));
  return keys.flatMap(({ key, path }, index) => {
    const first = keys.findIndex((other) => other.key === key);
    const earlier = keys[first];
    if (key === undefined || earlier === undefined || first === index) return [];
    return [fault(path, '…', `a key other than ${formatPath(earlier.path)}`)];
  });
}

function checkTemplates(draft: DraftFile): readonly Fault[] {
  return (draft.teams ?? []).flatMap((team, at) =>
    (team?.promptTemplates ?? []).flatMap((name, index, names) => {
      const first = names.indexOf(name);
      if (name === undefined || first === index) return [];
      const path = ['teams', at, 'promptTemplates', index];
      return [fault(path, name, `a name other than teams[${at}].promptTemplates[${first}]`)];
    }),
  );
}

/** A budget over a model without a price would never run out. */
function checkBudgets(draft: DraftFile): readonly Fault[] {
  const teams = (draft.teams ?? []).flatMap((team, index) =>
    team?.budget ? [`teams[${index}].budget`] : [],
  );
  if (teams.length === 0) return [];
  return (draft.accounts ?? []).flatMap((account, index) =>
    Object.entries(account?.models ?? {})
      .filter(([, model]) => model !== undefined && !('price' in model))
      .map(([name]) =>
        fault(
          ['accounts', index, 'models', name, 'price'],
          '(missing)',
          `a price, because of ${teams.join(', ')}`,
        ),
      ),
  );
}

function checkStore(store: DraftFile['store'] = {}): readonly Fault[] {
  const path = ['store', 'url'];
  if (store.kind === 'redis' && !('url' in store)) {
    return [fault(path, '(missing)', 'a redis:// or rediss:// address, because of kind redis')];
  }
  if (store.url !== undefined && store.kind !== 'redis' && !hasFault(store, 'kind')) {
    return [fault(path, '…', 'only with kind redis')];
  }
  return [];
}

function checkBreaker({
  openMs,
  maxOpenMs = 60_000,
}: NonNullable<DraftFile['breaker']> = {}): readonly Fault[] {
  if (openMs === undefined || openMs <= maxOpenMs) return [];
  return [fault(['breaker', 'openMs'], openMs, `at most breaker.maxOpenMs, ${maxOpenMs}`)];
}

function checkQueue({
  maxDepthPerTeam,
  maxDepth = 10_000,
}: NonNullable<DraftFile['queue']> = {}): readonly Fault[] {
  if (maxDepthPerTeam === undefined || maxDepthPerTeam <= maxDepth) return [];
  return [fault(['queue', 'maxDepthPerTeam'], maxDepthPerTeam, `at most queue.maxDepth, ${maxDepth}`)];
}

/** The field was written, and taken out because it was wrong. */
function hasFault<T extends object>(section: T, name: keyof T): boolean {
  return name in section && section[name] === undefined;
}

function fault(path: FieldPath, value: number | string, allowed: string): Fault {
  return { path: formatPath(path), value: String(value), allowed };
}
