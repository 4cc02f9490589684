import type { ChildProcess } from 'node:child_process';
import { z } from 'zod';
import { nextMessage } from '../processes.js';
import type { Door, WindowCount } from './call-window.js';
import { cpuSeconds } from './cores.js';
import type { Load } from './loads.js';
import type { PartOrder } from './part.js';

/** What its windows say of a server. */
export interface Measurement {
  readonly answersPerSecond: number;
  /** CPU that an answer cost the server, in microseconds. */
  readonly cpuUs: number;
}

/** Spans leave half a second after their request, and garbage is collected later still: both belong to the window. */
const SETTLE_MS = 800;

/** By how much two windows of a server that runs steadily may differ. */
const STEADY = 0.05;
/** The last two of so many count where none agree. */
const MOST_WINDOWS = 6;

const WindowCountSchema = z.object({ answers: z.number(), bad: z.number(), seconds: z.number() });

/** What one window cost. */
export interface Spent {
  readonly answers: number;
  /** From the first call to the last answer. */
  readonly seconds: number;
  readonly cpuSeconds: number;
}

/** Who is called, and whose CPU is read. */
export interface Server {
  readonly door: Door;
  readonly pid: number;
}

/**
 * Sends callers to a server until it costs the same twice, and reads what an answer costs then. A window that does not
 * count comes before: what stood idle is cold, and others have used its caches. After a change of load V8 compiles anew,
 * seconds later and for seconds, at up to five times the cost of an answer; that is not what a server costs that runs.
 * @throws where a call was not answered well
 */
export async function measure(callers: ChildProcess, server: Server, load: Load): Promise<Measurement> {
  await call(callers, server.door, load, load.seconds);
  await settle();
  let before = await window(callers, server, load);
  for (let windows = 2; ; windows += 1) {
    const now = await window(callers, server, load);
    if (isSteady(before, now) || windows === MOST_WINDOWS) return measurementOf(before, now);
    before = now;
  }
}

/** Calls until it has cost enough to be told, and what came of it. */
async function window(callers: ChildProcess, { door, pid }: Server, load: Load): Promise<Spent> {
  const before = cpuSeconds(pid);
  const all = { answers: 0, seconds: 0 };
  while (cpuSeconds(pid) < before + load.cpuSeconds) {
    const { answers, seconds } = await call(callers, door, load, load.seconds);
    all.answers += answers;
    all.seconds += seconds;
  }
  await settle();
  return { ...all, cpuSeconds: cpuSeconds(pid) - before };
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

/** Whether an answer costs about the same in both windows. */
export function isSteady(before: Spent, now: Spent): boolean {
  const ratio = now.cpuSeconds / now.answers / (before.cpuSeconds / before.answers);
  return ratio < 1 + STEADY && ratio > 1 / (1 + STEADY);
}

/** Both windows as one. */
export function measurementOf(before: Spent, now: Spent): Measurement {
  const answers = before.answers + now.answers;
  return {
    answersPerSecond: answers / (before.seconds + now.seconds),
    cpuUs: ((before.cpuSeconds + now.cpuSeconds) / answers) * 1e6,
  };
}
