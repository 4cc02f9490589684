import { spawn, type ChildProcess } from 'node:child_process';
import { createServer, type AddressInfo } from 'node:net';
import { z } from 'zod';
import { end, endWithUs, nextMessage, REPOSITORY, startClient } from '../processes.js';
import { OTHER_CORES, pin, SERVER_CORE } from './cores.js';
import type { PartOrder } from './part.js';

/** A process that listens, and is ended by its id. */
export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

const START_MS = 30_000;
const LOOK_MS = 100;

/** A server of the bench's own. */
export async function startPart(order: PartOrder, where: 'server' | 'other'): Promise<ServerProcess> {
  const child = startClient('gateway-part');
  const pid = pinned(child, where);
  child.send(order);
  return { url: z.string().parse(await nextMessage(child)), pid, stop: () => end(child) };
}

/** Callers in a process of their own, apart from whoever is measured. */
export function startCallers(): ChildProcess {
  const child = startClient('gateway-part');
  pinned(child, 'other');
  return child;
}

/** How somebody else's server is started. */
export interface Program {
  readonly arguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** A path that answers 200 as soon as it is ready. */
  readonly readyPath: string;
}

/** A server on a port that is free now, on the core of the measured; what it prints goes nowhere, as cheaply as can be. */
export async function startProgram(program: (port: number) => Program): Promise<ServerProcess> {
  const port = await freePort();
  const { arguments: given, environment, readyPath } = program(port);
  const child = spawn(process.execPath, given, {
    cwd: REPOSITORY,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  endWithUs(child);
  const pid = pinned(child, 'server');
  const url = `http://127.0.0.1:${port}`;
  await untilReady(url + readyPath, child);
  // Threads that came up before the process was pinned.
  pin(pid, SERVER_CORE);
  return { url, pid, stop: () => end(child) };
}

function pinned(child: ChildProcess, where: 'server' | 'other'): number {
  if (child.pid === undefined) throw new Error('A process of the bench did not start.');
  pin(child.pid, where === 'server' ? SERVER_CORE : OTHER_CORES);
  return child.pid;
}

function freePort(): Promise<number> {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => {
        resolve(port);
      });
    });
  });
}

async function untilReady(url: string, child: ChildProcess): Promise<void> {
  const until = performance.now() + START_MS;
  for (;;) {
    const isReady = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return;
    if (child.exitCode !== null || performance.now() > until) throw new Error(`Nothing answers at ${url}.`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
