import { splitTarget } from './check-references.js';
import type {
  AccountConfig,
  AdminConfig,
  GatewayConfig,
  ModelConfig,
  PriceConfig,
  QueueConfig,
  RouteConfig,
  StoreConfig,
  TeamConfig,
} from './gateway-config.js';
import type { KeyDigest } from './key-digest.js';
import { resolveLimits } from './resolve-limits.js';
import type { ConfigFile } from './schema.js';
import { Secret } from './secret.js';

type FileAccount = ConfigFile['accounts'][number];
type FileModel = FileAccount['models'][string];
type FileTeam = ConfigFile['teams'][number];

const TEAM_MINUTE_MS = 60_000;

/** What the file alone does not say. */
export interface Circumstances {
  readonly source: string;
  /** The key that loopback callers may administer with; its presence makes every key good for loopback only. */
  readonly loopbackKey?: KeyDigest;
  readonly notices: readonly string[];
  /** Where the environment overrides the file. */
  readonly listen: { readonly host?: string; readonly port?: number };
}

/** Turns a file without faults into what readers want: lists, milliseconds, targets, every default in place. */
export function resolve(file: ConfigFile, circumstances: Circumstances): GatewayConfig {
  const { source, loopbackKey, notices, listen } = circumstances;
  const loopbackOnly = loopbackKey !== undefined;
  const { adminKeys, ...server } = file.server;
  const accounts = file.accounts.map(toAccount);
  const admin: AdminConfig = { keys: loopbackOnly ? [loopbackKey] : adminKeys.map(toDigest), loopbackOnly };
  return {
    source,
    accounts,
    routes: file.routes === undefined ? ownNames(accounts) : writtenRoutes(file.routes),
    teams: file.teams.map((team) => toTeam(team, loopbackOnly)),
    server: { ...server, ...listen },
    admin,
    timeouts: file.timeouts,
    breaker: file.breaker,
    queue: toQueue(file.queue),
    retry: file.retry,
    store: toStore(file.store),
    disconnect: file.disconnect,
    notices,
  };
}

function toAccount(account: FileAccount): AccountConfig {
  const windowMs = account.windowSeconds * 1000;
  return {
    id: account.id,
    profile: account.profile,
    baseUrl: account.baseUrl.replace(/\/+$/, ''),
    apiKey: new Secret(account.apiKey),
    limits: resolveLimits(account.limits ?? {}, { windowMs }),
    windowMs,
    concurrency: account.limits?.concurrency,
    refundRequestsOn429: account.refundRequestsOn429,
    models: Object.entries(account.models).map(([name, model]) => toModel(name, model, account)),
  };
}

function toModel(name: string, model: FileModel, account: FileAccount): ModelConfig {
  const windowMs = account.windowSeconds * 1000;
  return {
    name,
    limits: resolveLimits(model.limits ?? {}, { windowMs, account: account.limits ?? {} }),
    price: model.price && toPrice(model.price),
    midStream: model.midStream,
  };
}

function toPrice(price: NonNullable<FileModel['price']>): PriceConfig {
  return { ...price, cachedInputPerMTok: price.cachedInputPerMTok ?? price.inputPerMTok };
}

function toTeam(team: FileTeam, loopbackOnly: boolean): TeamConfig {
  return {
    id: team.id,
    keys: team.keys.map(toDigest),
    weight: team.weight,
    limits: resolveLimits({ ...team.limits, shape: 'sliding' }, { windowMs: TEAM_MINUTE_MS }),
    budget: team.budget,
    promptTemplates: team.promptTemplates,
    loopbackOnly,
  };
}

function toQueue(queue: ConfigFile['queue']): QueueConfig {
  return { ...queue, maxDepthPerTeam: queue.maxDepthPerTeam ?? Math.min(2000, queue.maxDepth) };
}

function toStore({ kind, url }: ConfigFile['store']): StoreConfig {
  return kind === 'redis' && url !== undefined ? { kind, url: new Secret(url) } : { kind: 'memory' };
}

function toDigest(key: string): KeyDigest {
  return `sha256:${key.slice('sha256:'.length).toLowerCase()}`;
}

function writtenRoutes(routes: NonNullable<ConfigFile['routes']>): GatewayConfig['routes'] {
  return byName(
    Object.entries(routes).map(([name, route]) => ({
      name,
      targets: route.targets.map(splitTarget),
      fallback: route.fallback.map(splitTarget),
    })),
  );
}

/** Every configured model under its own name, over every account that has it, in the file's order. */
function ownNames(accounts: readonly AccountConfig[]): GatewayConfig['routes'] {
  const targets = accounts.flatMap(({ id, models }) =>
    models.map(({ name }) => ({ account: id, model: name })),
  );
  const names = [...new Set(targets.map(({ model }) => model))];
  return byName(
    names.map((name) => ({ name, targets: targets.filter(({ model }) => model === name), fallback: [] })),
  );
}

/** Callers choose the name that is looked up here, so nothing may be inherited. */
function byName(routes: readonly RouteConfig[]): GatewayConfig['routes'] {
  const bare = Object.create(null) as object;
  return Object.assign(bare, Object.fromEntries(routes.map((route) => [route.name, route])));
}
