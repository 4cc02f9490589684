import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Answers everything, notes its process id and what happens to it, and may be told to misbehave. The gateway takes its time to end. */
const FAKE_SERVICE = `
const name = __filename.includes('simulator') ? 'simulator' : 'gateway';
const note = (file, text) => require('node:fs').appendFileSync(require('node:path').join(process.env.NOTES, file), text);
note(name, String(process.pid));
require('node:http')
  .createServer((request, response) => {
    request.setEncoding('utf8').on('data', (body) => note('bodies', request.method + ' ' + request.url + ' ' + body));
    request.on('end', () => response.end(request.url));
  })
  .listen(Number(process.env[name === 'simulator' ? 'SIMULATOR_PORT' : 'WEIR_PORT']), '127.0.0.1');
const end = () => {
  if (process.env.STUBBORN === name) return;
  setTimeout(() => { note('ends', name + ' '); process.exit(0); }, name === 'gateway' ? 200 : 0);
};
process.on('SIGTERM', end);
process.on('SIGINT', end);
if (name === 'gateway') process.on('SIGHUP', () => { note('reloads', 'once '); console.log('reloaded'); });
if (process.env.DIES === name) setTimeout(() => process.exit(3), 300);
`;
const FAKE_NEST = `
const { appendFileSync, cpSync } = require('node:fs');
const app = process.argv[3];
appendFileSync(process.env.NOTES + '/built', app + '\\n');
cpSync('fake-service.js', 'dist/apps/' + app + '/apps/' + app + '/src/main.js', { recursive: true });
`;

const manifest = JSON.parse(readFileSync(join(__dirname, '../package.json'), 'utf8')) as {
  readonly scripts: { readonly start: string };
};

let root: string;
let notes: string;
let running: ChildProcess[];

function write(path: string, content: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'weir-start-'));
  notes = join(root, 'notes');
  running = [];
  mkdirSync(notes);
  cpSync(join(__dirname, 'start.mjs'), join(root, 'scripts/start.mjs'));
  cpSync(join(__dirname, 'start'), join(root, 'scripts/start'), { recursive: true });
  write('package.json', JSON.stringify({ scripts: { start: manifest.scripts.start } }));
  write('node_modules/@nestjs/cli/bin/nest.js', FAKE_NEST);
  for (const source of ['nest-cli.json', 'tsconfig.json', 'package-lock.json', 'libs/kernel/src/index.ts']) {
    write(source, '');
  }
  for (const app of ['simulator', 'gateway']) {
    write(`apps/${app}/src/main.ts`, '');
    write(`dist/apps/${app}/apps/${app}/src/main.js`, FAKE_SERVICE);
    touch(`dist/apps/${app}/apps/${app}/src/main.js`, 90);
  }
  write('fake-service.js', FAKE_SERVICE);
  write('dist/.built', '');
  touch('dist/.built', 60);
});

afterEach(() => {
  running
    .filter((child) => child.exitCode === null && child.signalCode === null)
    .forEach((child) => child.kill('SIGKILL'));
  for (const name of ['simulator', 'gateway']) {
    if (isAlive(name)) process.kill(pidOf(name) ?? 0, 'SIGKILL');
  }
  rmSync(root, { recursive: true });
});

/** Sets the time of a file that many seconds from now. */
function touch(path: string, seconds: number): void {
  const at = new Date(Date.now() + seconds * 1000);
  utimesSync(join(root, path), at, at);
}

function noted(name: string): string {
  try {
    return readFileSync(join(notes, name), 'utf8');
  } catch {
    return '';
  }
}

const pidOf = (name: string): number | undefined => Number(noted(name)) || undefined;

function isAlive(name: string): boolean {
  const pid = pidOf(name);
  try {
    return pid !== undefined && process.kill(pid, 0);
  } catch {
    return false;
  }
}

interface Run {
  readonly child: ChildProcess;
  /** Everything it printed so far. */
  readonly output: () => string;
  /** Resolves once the output holds `text`; fails when it ends without. */
  readonly says: (text: string) => Promise<void>;
  /** Exit code, or the name of the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
}

function run(command: readonly [string, ...string[]], environment: Record<string, string> = {}): Run {
  const [program, ...args] = command;
  const env = { ...process.env, NOTES: notes, WEIR_PORT: '0', SIMULATOR_PORT: '0', ...environment };
  const child = spawn(program, args, { cwd: root, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  running.push(child);
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed += text));
  const ended = once(child, 'close').then(() => child.exitCode ?? child.signalCode ?? -1);
  const says = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (printed.includes(text)) resolve();
      };
      look();
      child.stdout.on('data', look);
      child.once('close', () => {
        reject(new Error(`ended without "${text}":\n${printed}`));
      });
    });
  return { child, output: () => printed, says, ended };
}

const start = (environment?: Record<string, string>): Run =>
  run([process.execPath, 'scripts/start.mjs'], environment);

describe('npm start', () => {
  it('runs both services and prints where they listen and one line that streams', async () => {
    const { child, output, says, ended } = start();
    await says('curl');
    const [, gateway = ''] =
      /curl -N (http:\/\/127\.0\.0\.1:\d+\/v1\/chat\/completions) /.exec(output()) ?? [];
    expect(await (await fetch(gateway)).text()).toBe('/v1/chat/completions');
    expect(output()).toMatch(/simulator +http:\/\/127\.0\.0\.1:\d+/);
    expect(output()).toContain("'authorization: Bearer dev'");
    expect(output()).toContain('"model":"gemini-2.5-flash","stream":true');
    expect(noted('bodies')).toBe('PUT /_sim/behaviour {"firstTokenMs":300,"tokensPerSecond":40}');
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect([isAlive('simulator'), isAlive('gateway')]).toEqual([false, false]);
  });

  it.each([
    ['Ctrl-C in a terminal, which reaches the whole group', (pid: number) => process.kill(-pid, 'SIGINT')],
    ['SIGINT to npm alone', (pid: number) => process.kill(pid, 'SIGINT')],
    ['SIGTERM to npm alone', (pid: number) => process.kill(pid, 'SIGTERM')],
  ])('ends everything on %s', async (_, signal) => {
    const { child, says, ended } = run(['npm', 'start']);
    await says('curl');
    signal(child.pid ?? 0);
    expect([0, 130, 'SIGINT', 'SIGTERM']).toContain(await ended);
    expect([isAlive('simulator'), isAlive('gateway')]).toEqual([false, false]);
  });

  it('ends the gateway before the simulator, whose answers it may still be passing on', async () => {
    const { child, says, ended } = start();
    await says('curl');
    child.kill('SIGINT');
    expect(await ended).toBe(0);
    expect(noted('ends')).toBe('gateway simulator ');
  });

  it('passes SIGHUP on to the gateway, which reloads, and ends nothing', async () => {
    const { child, says, ended } = start();
    await says('curl');
    child.kill('SIGHUP');
    await says('reloaded');
    expect([isAlive('simulator'), isAlive('gateway')]).toEqual([true, true]);
    child.kill('SIGINT');
    expect(await ended).toBe(0);
    expect(noted('reloads')).toBe('once ');
  });

  it('ends everything when npm is killed without a chance to say so', async () => {
    const { child, says, ended } = run(['npm', 'start']);
    await says('curl');
    child.kill('SIGKILL');
    await ended; // The pipes close only when the last process of the tree has ended.
    expect([isAlive('simulator'), isAlive('gateway')]).toEqual([false, false]);
  });

  it('cuts off a service that does not end', async () => {
    const { child, output, says, ended } = start({ STUBBORN: 'gateway' });
    await says('curl');
    child.kill('SIGINT');
    expect(await ended).toBe(0);
    expect(output()).toContain('The gateway was still busy');
    expect([isAlive('simulator'), isAlive('gateway')]).toEqual([false, false]);
  });

  it.each(['simulator', 'gateway'])('stops the other one and fails when the %s dies', async (name) => {
    const { output, ended } = start({ DIES: name });
    expect(await ended).toBe(1);
    expect(output()).toContain(`The ${name} ended (code 3)`);
    expect([isAlive('simulator'), isAlive('gateway')]).toEqual([false, false]);
  });

  it.each([
    ['WEIR_PORT', 'gateway'],
    ['SIMULATOR_PORT', 'simulator'],
  ])('says that the port of %s is taken, and starts nothing', async (setting, name) => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const { output, ended } = start({ [setting]: String(port) });
    expect(await ended).toBe(1);
    expect(output()).toContain(`Port ${port} on 127.0.0.1 is taken, so the ${name} cannot listen there.`);
    expect(output()).toContain(`${setting}=${port + 1} npm start`);
    expect([noted('simulator'), noted('gateway')]).toEqual(['', '']);
    await new Promise((resolve) => other.close(resolve));
  });

  it('says that a port is no port', async () => {
    const { output, ended } = start({ WEIR_PORT: 'eighty' });
    expect(await ended).toBe(1);
    expect(output()).toContain('WEIR_PORT is "eighty"');
  });

  it.each([{ WEIR_CONFIG: 'weir.yaml' }, { UPSTREAM_BASE_URL: 'https://api.example.com/v1' }])(
    'leaves the simulator out with %j',
    async (environment) => {
      const { child, output, says, ended } = start(environment);
      await says('curl');
      expect(output()).toContain('simulator  not started: requests go to');
      child.kill('SIGINT');
      expect(await ended).toBe(0);
      expect(noted('simulator')).toBe('');
    },
  );

  it.each([
    ['the first of UPSTREAM_MODELS', { UPSTREAM_MODELS: 'gpt-4o-mini,gpt-4o' }, 'gpt-4o-mini'],
    ['a word to be replaced where none is named', {}, 'YOUR_MODEL'],
  ])('prints a call for %s', async (_, environment, model) => {
    const { child, output, says, ended } = start({
      UPSTREAM_BASE_URL: 'https://api.example.com/v1',
      ...environment,
    });
    await says('curl');
    expect(output()).toContain(`"model":"${model}"`);
    child.kill('SIGINT');
    expect(await ended).toBe(0);
  });

  it.each([
    ['route', "routes: { chat's: {} }\naccounts: [{ models: { m: {} } }]\n", String.raw`chat'\''s`],
    ['model, where there are no routes', 'accounts: [{ models: { org/m: {}, n: {} } }]\n', 'org/m'],
  ])("prints a call for a file's first %s", async (_, file, model) => {
    symlinkSync(join(__dirname, '../node_modules/yaml'), join(root, 'node_modules/yaml'));
    write('weir.yaml', file);
    const { child, output, says, ended } = start({ WEIR_CONFIG: 'weir.yaml' });
    await says('curl');
    expect(output()).toContain(`"model":"${model}"`);
    child.kill('SIGINT');
    expect(await ended).toBe(0);
  });

  it('listens where a file says, unless the environment says otherwise', async () => {
    const free = createServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    const { port } = free.address() as AddressInfo;
    await new Promise((resolve) => free.close(resolve));
    symlinkSync(join(__dirname, '../node_modules/yaml'), join(root, 'node_modules/yaml'));
    write('weir.yaml', `server: { port: ${port} }\n`);

    const { child, output, says, ended } = start({ WEIR_CONFIG: 'weir.yaml', WEIR_PORT: '' });
    await says('curl');
    expect(output()).toContain(`http://127.0.0.1:${port}/v1`);
    child.kill('SIGINT');
    expect(await ended).toBe(0);
  });

  it('builds when a source is younger than the last build, and only then', async () => {
    touch('libs/kernel/src/index.ts', 120);
    const { child, output, says, ended } = start();
    await says('curl');
    child.kill('SIGINT');
    await ended;
    expect(output()).toContain('Building');
    expect(noted('built').trim().split('\n').sort()).toEqual(['gateway', 'simulator']);

    touch('libs/kernel/src/index.ts', -60);
    touch('dist/.built', 60);
    const again = start();
    await again.says('curl');
    again.child.kill('SIGINT');
    await again.ended;
    expect(again.output()).not.toContain('Building');
    expect(noted('built').trim().split('\n')).toHaveLength(2);
  });

  it('builds when a build is missing', async () => {
    rmSync(join(root, 'dist/apps/gateway'), { recursive: true });
    const { child, says, ended } = start();
    await says('curl');
    child.kill('SIGINT');
    expect(await ended).toBe(0);
    expect(noted('built')).toContain('gateway');
  });

  it.each([
    ['20.20.2', 'Weir needs Node 24.9 or newer'],
    ['24.8.0', 'run `npm ci`'],
    ['24.9.0', 'undefined'],
    ['26.0.0', 'undefined'],
  ])('on Node %s says "%s"', async (version, sentence) => {
    const script = `import { complaintAbout } from './scripts/start/node-version.mjs'; console.log(complaintAbout('${version}'));`;
    const { output, ended } = run([process.execPath, '--input-type=module', '--eval', script]);
    expect(await ended).toBe(0);
    expect(output()).toContain(sentence);
  });
});
