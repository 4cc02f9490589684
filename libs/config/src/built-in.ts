import { variable, type Environment } from './environment.js';
import type { Fault } from './fault.js';
import { digestKey } from './key-digest.js';

/** A file that nobody wrote, as if it had been read. */
export interface BuiltIn {
  readonly value: unknown;
  readonly faults: readonly Fault[];
  readonly notices: readonly string[];
}

/** Names that are good at the simulator, which serves any. */
const MODELS = ['gemini-2.5-pro', 'gemini-2.5-flash', 'gpt-4o', 'gpt-4o-mini', 'demo'];

const OPTIONAL = ['UPSTREAM_PROFILE', 'UPSTREAM_MODELS', 'UPSTREAM_RPM', 'UPSTREAM_TPM'];

const ORIGINS = [
  ['accounts[0].baseUrl', 'UPSTREAM_BASE_URL'],
  ['accounts[0].apiKey', 'UPSTREAM_API_KEY'],
  ['accounts[0].profile', 'UPSTREAM_PROFILE'],
  ['accounts[0].limits.requestsPerMinute', 'UPSTREAM_RPM'],
  ['accounts[0].limits.tokensPerMinute', 'UPSTREAM_TPM'],
  ['accounts[0].models', 'UPSTREAM_MODELS'],
] as const;

/**
 * Without a file: one account at the simulator on this machine, or at `UPSTREAM_BASE_URL`,
 * and the key `dev`, for callers and for administration, from loopback only.
 */
export function builtIn(env: Environment): BuiltIn {
  const [url, key] = [variable(env, 'UPSTREAM_BASE_URL'), variable(env, 'UPSTREAM_API_KEY')];
  const real = url !== undefined || key !== undefined;
  const { account, faults, notices } = real ? upstream(env, url, key) : simulator(env);
  const teams = [{ id: 'dev', keys: [digestKey('dev')] }];
  return { value: { accounts: [account], teams }, faults, notices };
}

/** The variable that the field at `path` came from, or the path itself. */
export function originOf(path: string): string {
  return ORIGINS.find(([field]) => path.startsWith(field))?.[1] ?? path;
}

interface BuiltInAccount {
  readonly account: unknown;
  readonly faults: readonly Fault[];
  readonly notices: readonly string[];
}

/** The simulator's own defaults, so that both sides agree without a word. */
function simulator(env: Environment): BuiltInAccount {
  const port = variable(env, 'SIMULATOR_PORT') ?? '9400';
  const faults = OPTIONAL.filter((name) => variable(env, name) !== undefined).map((name) => ({
    path: name,
    value: 'set',
    allowed: 'only together with UPSTREAM_BASE_URL and UPSTREAM_API_KEY',
  }));
  if (!isPort(port, 1))
    faults.push({ path: 'SIMULATOR_PORT', value: JSON.stringify(port), allowed: 'a port from 1 to 65535' });
  const account = {
    id: 'main',
    profile: 'generic',
    baseUrl: `http://127.0.0.1:${isPort(port, 1) ? port : '9400'}/v1`,
    apiKey: 'sim-key',
    limits: { requestsPerMinute: 600, tokensPerMinute: 1_000_000, concurrency: 100, shape: 'sliding' },
    models: named(MODELS),
  };
  return { account, faults, notices: [] };
}

function upstream(env: Environment, url: string | undefined, key: string | undefined): BuiltInAccount {
  const [rpm, tpm] = [variable(env, 'UPSTREAM_RPM'), variable(env, 'UPSTREAM_TPM')];
  const models = variable(env, 'UPSTREAM_MODELS');
  const account = {
    id: 'main',
    profile: variable(env, 'UPSTREAM_PROFILE') ?? 'generic',
    baseUrl: url ?? 'http://127.0.0.1',
    apiKey: key ?? 'missing',
    limits: {
      requestsPerMinute: rpm === undefined ? 60 : numeral(rpm),
      tokensPerMinute: tpm === undefined ? 1_000_000 : numeral(tpm),
      concurrency: 20,
      shape: 'unknown',
    },
    models: named(models === undefined ? MODELS : models.split(',').map((name) => name.trim())),
  };
  const faults: Fault[] = [];
  if (url === undefined) faults.push(missing('UPSTREAM_BASE_URL', 'UPSTREAM_API_KEY'));
  if (key === undefined) faults.push(missing('UPSTREAM_API_KEY', 'UPSTREAM_BASE_URL'));
  const notices = [
    ...(rpm === undefined ? ['UPSTREAM_RPM is not set: pacing at 60 requests a minute.'] : []),
    ...(tpm === undefined ? ['UPSTREAM_TPM is not set: pacing at 1000000 tokens a minute.'] : []),
    ...(models === undefined ? [`UPSTREAM_MODELS is not set: serving ${MODELS.join(', ')}.`] : []),
  ];
  return { account, faults, notices };
}

function missing(path: string, partner: string): Fault {
  return { path, value: '(missing)', allowed: `set, because ${partner} is` };
}

function named(models: readonly string[]): Readonly<Record<string, object>> {
  return Object.fromEntries(models.map((name) => [name, {}]));
}

/** Digits as a number; anything else stays text, for the form check to name. */
function numeral(text: string): number | string {
  return /^\d+$/.test(text) ? Number(text) : text;
}

/** Whether `text` is a port number, `lowest` or above. */
export function isPort(text: string, lowest: number): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) >= lowest && Number(text) <= 65535;
}
