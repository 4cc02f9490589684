import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';

/** Prints lines of `npm start` itself, told from those of the services. */
export const say = (text) => console.log(text.replaceAll(/^/gm, 'weir | '));

/** @returns the value; empty counts as unset, as in libs/config. */
const variable = (environment, name) => environment[name] || undefined;

/** @returns what the file holds; a broken file is the gateway's to report. */
async function contentOf(path) {
  try {
    const { parse } = await import('yaml');
    return parse(await readFile(path, 'utf8')) ?? {};
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
    prepare: () => speakVisibly(url(host, port)),
    endsBy: 'SIGTERM',
  };
}

/** Unless told otherwise the simulator answers at once, and nobody would see that an answer streams. */
async function speakVisibly(simulator) {
  const answer = await fetch(`${simulator}/_sim/behaviour`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ firstTokenMs: 300, tokensPerSecond: 40 }),
  });
  await answer.body?.cancel();
}

async function gatewayService(root, environment, { server, passedOn }) {
  const host = variable(environment, 'WEIR_HOST') ?? server?.host ?? '127.0.0.1';
  const asked = variable(environment, 'WEIR_PORT') ?? server?.port ?? 8080;
  const port = await claimPort({ name: 'gateway', host, port: asked, variable: 'WEIR_PORT' });
  return {
    name: 'gateway',
    entry: entry(root, 'gateway'),
    environment: { ...passedOn, WEIR_PORT: String(port) },
    url: url(host, port),
    ready: '/readyz',
    reloads: true,
    // As from a terminal: it then gives running streams a moment, not its whole drain.
    endsBy: 'SIGINT',
  };
}

/** @returns a model that the gateway serves, as far as one is named anywhere. */
function firstModel(environment, { routes, accounts }) {
  const names = [routes, accounts?.[0]?.models].map((map) => Object.keys(map ?? {})[0]);
  const listed = variable(environment, 'UPSTREAM_MODELS')?.split(',')[0].trim();
  return variable(environment, 'WEIR_CONFIG') ? (names[0] ?? names[1]) : listed;
}

/** @returns one line that streams. */
function curl(base, key, model) {
  const messages = [{ role: 'user', content: 'Hello' }];
  const body = JSON.stringify({ model, stream: true, messages }).replaceAll("'", String.raw`'\''`);
  return [
    `curl -N ${base}/v1/chat/completions`,
    `-H 'authorization: Bearer ${key}' -H 'content-type: application/json' -d '${body}'`,
  ].join(' ');
}

/**
 * What runs, in the order of starting, and what to say once it does.
 * A service is `{ name, entry, environment, url, ready, prepare?, reloads?, endsBy }`; `ready` is a path that answers 200 when
 * it may be used, `prepare` is done then, `reloads` says that it reads its file again on SIGHUP, `endsBy` is the signal to end it.
 */
export async function plan(root, environment) {
  const elsewhere = otherUpstream(environment);
  const simulator = elsewhere ? undefined : await simulatorService(root, environment);
  const path = variable(environment, 'WEIR_CONFIG');
  const file = path ? await contentOf(path) : {};
  const passedOn = simulator?.environment;
  const gateway = await gatewayService(root, environment, { server: file.server, passedOn });
  const key = path ? 'YOUR_TEAM_KEY' : 'dev';
  const model = elsewhere ? (firstModel(environment, file) ?? 'YOUR_MODEL') : 'gemini-2.5-flash';
  const greeting = [
    `gateway    ${gateway.url}/v1`,
    simulator ? `simulator  ${simulator.url}` : `simulator  not started: requests go to ${elsewhere}`,
    'Try it in another terminal; Ctrl-C here ends everything.',
    curl(gateway.url, key, model),
  ].join('\n');
  return { services: simulator ? [simulator, gateway] : [gateway], greeting };
}
