import type { ChildProcess } from 'node:child_process';
import { z } from 'zod';
import { nextMessage } from '../processes.js';
import type { Door, WindowCount } from './call-window.js';
import { cpuSeconds } from './cores.js';
import type { Load } from './loads.js';
import type { PartOrder } from './part.js';

/** What one window says of a server. */
export interface Measurement {
  readonly answersPerSecond: number;
  /** CPU that an answer cost the server, in microseconds. */
  readonly cpuUs: number;
}

/** Spans leave half a second after their request, and garbage is collected later still: both belong to the window. */
const SETTLE_MS = 800;

const WindowCountSchema = z.object({ answers: z.number(), bad: z.number(), seconds: z.number() });

/** Who is called, and whose CPU is read. */
export interface Server {
  readonly door: Door;
  readonly pid: number;
}

/**
 * Sends callers to a server until they cost it enough to be measured, and reads what an answer costs. A window that does
 * not count comes before: what stood idle is cold, and others have used its caches.
 * @throws where a call was not answered well
 */
export async function measure(
  callers: ChildProcess,
  { door, pid }: Server,
  load: Load,
): Promise<Measurement> {
  await call(callers, door, load, load.seconds);
  await settle();
  const before = cpuSeconds(pid);
  const all = { answers: 0, seconds: 0 };
  while (cpuSeconds(pid) < before + load.cpuSeconds) {
    const { answers, seconds } = await call(callers, door, load, load.seconds);
    all.answers += answers;
    all.seconds += seconds;
  }
  await settle();
  const cpuUs = ((cpuSeconds(pid) - before) / all.answers) * 1e6;
  return { answersPerSecond: all.answers / all.seconds, cpuUs };
}

/** Lets a server compile what it will need. */
export async function warmUp(callers: ChildProcess, { door, pid }: Server, load: Load): Promise<void> {
  const until = cpuSeconds(pid) + load.warmUpCpuSeconds;
  while (cpuSeconds(pid) < until) await call(callers, door, load, load.seconds);
}

async function call(callers: ChildProcess, door: Door, load: Load, seconds: number): Promise<WindowCount> {
  callers.send({ part: 'callers', door, load, seconds } satisfies PartOrder);
  const count = WindowCountSchema.parse(await nextMessage(callers));
  if (count.bad > 0)
    throw new Error(`${count.bad} of the calls to ${door.url} (${load.name}) were not answered well.`);
  return count;
}

function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
}
