import { builtIn, isPort, originOf } from './built-in.js';
import { checkForm, without } from './check-form.js';
import { checkLimits } from './check-limits.js';
import { checkReferences } from './check-references.js';
import { unreadVariables, variable, type Environment } from './environment.js';
import { ConfigFaults, type Fault } from './fault.js';
import { deepFreeze } from './freeze.js';
import type { GatewayConfig } from './gateway-config.js';
import { interpolate, shieldReferences } from './interpolate.js';
import { digestKey } from './key-digest.js';
import { noticesOf } from './notices.js';
import { parseYaml } from './parse-yaml.js';
import { resolve, type Circumstances } from './resolve.js';
import { checkSupport, type Unsupported } from './unsupported.js';

/** Reads a text file whole, or throws. */
export type ReadFile = (path: string) => string;

/** How strictly to read. */
export interface LoadOptions {
  /** Settings to refuse because nothing would act on them. Default: none. */
  readonly unsupported?: readonly Unsupported[];
  /** What others found wrong in their part of the environment, to be named together with the rest. Default: nothing. */
  readonly environmentFaults?: readonly Fault[];
}

/**
 * The configuration that the environment asks for: the file that `WEIR_CONFIG` names, else the built-in one,
 * with `WEIR_HOST` and `WEIR_PORT` on top. Deterministic in its arguments; reads nothing else.
 * @throws ConfigFaults with every fault at once
 */
export function loadConfig(env: Environment, readFile: ReadFile, options: LoadOptions = {}): GatewayConfig {
  const written = readWritten(env, readFile);
  const { listen, faults: listenFaults } = readListen(env);
  const envFaults = [...listenFaults, ...(options.environmentFaults ?? [])];
  if (written.kind === 'broken') throw new ConfigFaults(written.source, [...written.faults, ...envFaults]);
  const form = checkForm(written.value, written.shown);
  const refused = checkSupport(form.draft, options.unsupported ?? []);
  const draft = without(
    form.draft,
    refused.map(({ path }) => path),
  );
  const faults = onePerPath([
    ...written.faults,
    ...form.faults,
    ...checkReferences(draft),
    ...checkLimits(draft),
    ...refused,
    ...envFaults,
  ]);
  if (form.file === undefined || faults.length > 0) {
    throw new ConfigFaults(written.source, written.built ? faults.map(renamed) : faults);
  }
  const circumstances: Circumstances = {
    source: written.source,
    listen,
    notices: [...written.notices, ...noticesOf(form.file)],
    ...(written.built ? { loopbackKey: digestKey('dev') } : {}),
  };
  return deepFreeze(resolve(form.file, circumstances));
}

type Written =
  | { readonly kind: 'broken'; readonly source: string; readonly faults: readonly Fault[] }
  | {
      readonly kind: 'read';
      readonly source: string;
      readonly built: boolean;
      readonly value: unknown;
      readonly shown: unknown;
      readonly faults: readonly Fault[];
      readonly notices: readonly string[];
    };

function readWritten(env: Environment, readFile: ReadFile): Written {
  const source = variable(env, 'WEIR_CONFIG');
  if (source === undefined) {
    const { value, faults, notices: assumed } = builtIn(env);
    const notices = [...assumed, ...unreadVariables(env, new Set())];
    return { kind: 'read', source: 'built-in', built: true, value, shown: value, faults, notices };
  }
  const text = readText(source, readFile);
  if (text === undefined) {
    const fault = { path: 'WEIR_CONFIG', value: JSON.stringify(source), allowed: 'a file that can be read' };
    return { kind: 'broken', source, faults: [fault] };
  }
  const parsed = parseYaml(shieldReferences(text));
  if (parsed.kind === 'broken') return { kind: 'broken', source, faults: parsed.faults };
  const { value, shown, faults, used } = interpolate(parsed.value, env);
  const notices = [...unusedUpstream(env, used, source), ...unreadVariables(env, used)];
  return { kind: 'read', source, built: false, value, shown, faults: [...parsed.faults, ...faults], notices };
}

function readText(path: string, readFile: ReadFile): string | undefined {
  try {
    return readFile(path);
  } catch {
    return undefined;
  }
}

/** Beside a file the variables of the built-in account do nothing, unless the file itself refers to them. */
function unusedUpstream(env: Environment, used: ReadonlySet<string>, source: string): readonly string[] {
  return ['UPSTREAM_BASE_URL', 'UPSTREAM_API_KEY']
    .filter((name) => variable(env, name) !== undefined && !used.has(name))
    .map((name) => `${name} is set, but ${source} decides and does not refer to it.`);
}

function readListen(env: Environment): {
  readonly listen: Circumstances['listen'];
  readonly faults: readonly Fault[];
} {
  const [host, port] = [variable(env, 'WEIR_HOST'), variable(env, 'WEIR_PORT')];
  const faults: Fault[] = [];
  if (host !== undefined && !/^[A-Za-z0-9.:_%-]{1,255}$/.test(host)) {
    faults.push({ path: 'WEIR_HOST', value: JSON.stringify(host), allowed: 'a host name or IP address' });
  }
  if (port !== undefined && !isPort(port, 0)) {
    faults.push({
      path: 'WEIR_PORT',
      value: JSON.stringify(port),
      allowed: 'a whole number from 0 to 65535',
    });
  }
  return { listen: { ...(host && { host }), ...(port && { port: Number(port) }) }, faults };
}

/** A cause is named once: what follows from it at the same place is left out. */
function onePerPath(faults: readonly Fault[]): readonly Fault[] {
  return faults.filter((fault, index) => faults.findIndex(({ path }) => path === fault.path) === index);
}

function renamed(fault: Fault): Fault {
  return { ...fault, path: originOf(fault.path) };
}
