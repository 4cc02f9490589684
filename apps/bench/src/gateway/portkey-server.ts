import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { REPOSITORY } from '../processes.js';
import { startProgram, type ServerProcess } from './server-process.js';

const PEERS = join(REPOSITORY, 'apps/bench/peers');
/** Outside of the sources: tools that read those would read the peers' as well. */
const INSTALLED = join(REPOSITORY, '.cache/bench-peers');
const START = join(INSTALLED, 'node_modules/@portkey-ai/gateway/build/start-server.js');

/** What callers of Portkey send along: it is told by headers where to go. */
export function portkeyHeaders(provider: string): Readonly<Record<string, string>> {
  return {
    authorization: 'Bearer key-of-the-provider',
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `${provider}/v1`,
  };
}

/** Installs what the lock file of the peers names; none of their scripts runs. */
export async function installPeers(): Promise<void> {
  await mkdir(INSTALLED, { recursive: true });
  for (const file of ['package.json', 'package-lock.json'])
    await copyFile(join(PEERS, file), join(INSTALLED, file));
  const npm = spawn('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'], {
    cwd: INSTALLED,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = (await once(npm, 'exit')) as [number | null];
  if (code !== 0) throw new Error('The peers could not be installed.');
}

/** The peer, with what its streams need to work at all. */
export function startPortkey(): Promise<ServerProcess> {
  return startProgram((port) => ({
    arguments: ['--import', join(PEERS, 'portkey-streams.mjs'), START, '--headless', `--port=${port}`],
    environment: { NODE_ENV: 'production' },
    readyPath: '/',
  }));
}
