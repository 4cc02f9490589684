import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';

/** Where the repository begins. */
export const REPOSITORY = join(__dirname, '../../..');

const DOOR = join(__dirname, 'main.ts');
const TYPESCRIPT = ['--import', 'tsx'];
/** Children see nothing of this process's settings: they would change what is measured. */
const BARE_ENVIRONMENT = { PATH: process.env['PATH'], HOME: process.env['HOME'] };
const START_MS = 60_000;
const END_MS = 5_000;

/** A service in a process of its own. */
export interface Service {
  readonly url: string;
  /** What the part of ours answers that was loaded into it. */
  ask(): Promise<unknown>;
  /** Ends it, by force where it does not end itself. */
  stop(): Promise<void>;
}

/**
 * Starts an app of ours from its sources, and waits until it says where it listens.
 * @param watch a file of ours that is loaded into it first, and answers `ask`; such a service gets a session of its own
 */
export async function startService(
  app: string,
  environment: NodeJS.ProcessEnv,
  watch?: string,
): Promise<Service> {
  const { child, lines } = spawnApp(app, environment, watch);
  const url = await new Promise<string>((resolve, reject) => {
    const fail = (why: string): void => {
      child.kill('SIGKILL');
      reject(new Error(`The ${app} did not start: ${why}.`));
    };
    const timer = setTimeout(() => {
      fail('it was too slow');
    }, START_MS);
    child.once('exit', (code) => {
      fail(`it ended with ${code ?? 'a signal'}`);
    });
    lines.on('line', (line) => {
      const [found] = line.includes('listen') ? (/http:\/\/[\w.]+:\d+/.exec(line) ?? []) : [];
      if (/"level":"error"/.test(line)) console.error(line);
      if (found === undefined) return;
      clearTimeout(timer);
      resolve(found);
    });
  });
  const ask = (): Promise<unknown> => {
    const answer = nextMessage(child);
    child.send('tell');
    return answer;
  };
  return { url, ask, stop: () => end(child) };
}

function spawnApp(
  app: string,
  environment: NodeJS.ProcessEnv,
  watch: string | undefined,
): { readonly child: ChildProcess; readonly lines: Interface } {
  const loaded = watch === undefined ? [] : ['--import', watch];
  const door = join(REPOSITORY, 'apps', app, 'src/main.ts');
  const child = spawn(process.execPath, [...TYPESCRIPT, ...loaded, door], {
    cwd: REPOSITORY,
    env: { ...BARE_ENVIRONMENT, ...environment },
    stdio: ['ignore', 'pipe', 'inherit', watch === undefined ? 'ignore' : 'ipc'],
    detached: watch !== undefined,
  });
  endWithUs(child);
  if (child.stdout === null) throw new Error(`Nobody hears the ${app}.`);
  const lines = createInterface({ input: child.stdout });
  return { child, lines };
}

/** A process of the bench itself, told by its first argument what to do; it talks by messages. */
export function startClient(command: string, nodeOptions: readonly string[] = []): ChildProcess {
  const child = fork(DOOR, [command], {
    cwd: REPOSITORY,
    execArgv: [...TYPESCRIPT, ...nodeOptions],
    env: BARE_ENVIRONMENT,
    // JSON would turn NaN, which says that nothing was measured, into null.
    serialization: 'advanced',
  });
  endWithUs(child);
  return child;
}

/** The next message of a child. @throws where it ends instead */
export async function nextMessage(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null): void => {
      reject(new Error(`A process of the bench ended with ${code ?? 'a signal'}.`));
    };
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      resolve(message);
    });
  });
}

/** Ends a child, by force where it does not end itself. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const over = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), END_MS);
  await over;
  clearTimeout(timer);
}

const children = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** Ends a child with this process, however that ends. */
export function endWithUs(child: ChildProcess): void {
  children.add(child);
  child.once('exit', () => children.delete(child));
}
