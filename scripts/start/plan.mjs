import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';

/** Prints lines of `npm start` itself, told from those of the services. */
export const say = (text) => console.log(text.replaceAll(/^/gm, 'weir | '));

/** @returns the value; empty counts as unset, as in libs/config. */
const variable = (environment, name) => environment[name] || undefined;

/** @returns what the file says about listening; a broken file is the gateway's to report. */
async function serverSection(path) {
  try {
    const { parse } = await import('yaml');
    return parse(await readFile(path, 'utf8'))?.server ?? {};
  } catch {
    return {};
  }
}

/**
 * Finds out before anything is started whether a service can listen.
 * @returns the port; where 0 was asked for, one that is free now
 * @throws an error that says what to do
 */
async function claimPort({ name, host, port, variable: setting }) {
  const wanted = Number(port);
  const legal = Number.isInteger(wanted) && wanted >= 0 && wanted <= 65535;
  if (!legal) throw new Error(`${setting} is "${port}"; a port is a whole number from 0 to 65535.`);
  const server = createServer();
  const listening = new Promise((resolve, reject) => {
    server.once('error', reject).listen({ host, port: wanted, exclusive: true }, resolve);
  });
  await listening.catch((failure) => {
    if (failure.code !== 'EADDRINUSE') throw failure;
    throw new Error(
      `Port ${wanted} on ${host} is taken, so the ${name} cannot listen there.\n` +
        `Stop what uses it, or choose another port: ${setting}=${wanted + 1} npm start`,
    );
  });
  const claimed = server.address().port;
  await new Promise((resolve) => server.close(resolve));
  return claimed;
}

/** @returns an address that this machine can call, for one that it listens on. */
function url(host, port) {
  const callable =
    { '0.0.0.0': '127.0.0.1', '::': '[::1]' }[host] ?? (host.includes(':') ? `[${host}]` : host);
  return `http://${callable}:${port}`;
}

const entry = (root, app) => join(root, `dist/apps/${app}/apps/${app}/src/main.js`);

/** Where requests go besides the simulator, in words; undefined where they go there. */
function otherUpstream(environment) {
  if (variable(environment, 'WEIR_CONFIG')) return `the accounts of ${environment.WEIR_CONFIG}`;
  const base = variable(environment, 'UPSTREAM_BASE_URL');
  return base && `UPSTREAM_BASE_URL (${URL.parse(base)?.host ?? base})`;
}

async function simulatorService(root, environment) {
  const host = '127.0.0.1';
  const setting = {
    name: 'simulator',
    host,
    port: environment.SIMULATOR_PORT || 9400,
    variable: 'SIMULATOR_PORT',
  };
  const port = await claimPort(setting);
  return {
    name: 'simulator',
    entry: entry(root, 'simulator'),
    environment: { SIMULATOR_PORT: String(port) },
    url: url(host, port),
    ready: '/_sim/ledger',
  };
}

async function gatewayService(root, environment, passedOn) {
  const file = variable(environment, 'WEIR_CONFIG');
  const server = file ? await serverSection(file) : {};
  const host = variable(environment, 'WEIR_HOST') ?? server.host ?? '127.0.0.1';
  const asked = variable(environment, 'WEIR_PORT') ?? server.port ?? 8080;
  const port = await claimPort({ name: 'gateway', host, port: asked, variable: 'WEIR_PORT' });
  return {
    name: 'gateway',
    entry: entry(root, 'gateway'),
    environment: { ...passedOn, WEIR_PORT: String(port) },
    url: url(host, port),
    ready: '/readyz',
  };
}

/** @returns one line that streams. */
function curl(base, key, model) {
  const body = `{"model":"${model}","stream":true,"messages":[{"role":"user","content":"Hello"}]}`;
  return [
    `curl -N ${base}/v1/chat/completions`,
    `-H 'authorization: Bearer ${key}' -H 'content-type: application/json' -d '${body}'`,
  ].join(' ');
}

/**
 * What runs, in the order of starting, and what to say once it does.
 * A service is `{ name, entry, environment, url, ready }`; `ready` is a path that answers 200 when it may be used.
 */
export async function plan(root, environment) {
  const elsewhere = otherUpstream(environment);
  const simulator = elsewhere ? undefined : await simulatorService(root, environment);
  const gateway = await gatewayService(root, environment, simulator?.environment);
  const ownFile = variable(environment, 'WEIR_CONFIG') !== undefined;
  const key = ownFile ? 'YOUR_TEAM_KEY' : 'dev';
  const model = elsewhere ? 'YOUR_MODEL' : 'gemini-2.5-flash';
  const greeting = [
    `gateway    ${gateway.url}/v1`,
    simulator ? `simulator  ${simulator.url}` : `simulator  not started: requests go to ${elsewhere}`,
    'Try it in another terminal; Ctrl-C here ends everything.',
    curl(gateway.url, key, model),
  ].join('\n');
  return { services: simulator ? [simulator, gateway] : [gateway], greeting };
}
