import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const CORES = availableParallelism();
/** The last core is the measured process's own. */
export const SERVER_CORE = String(CORES - 1);
/** Callers, provider and trace sink share the others. */
export const OTHER_CORES = CORES > 2 ? `0-${CORES - 2}` : '0';

/** Keeps a process, with every thread that it has and will have, on these cores. Linux with taskset only. */
export function pin(pid: number, cores: string): void {
  execFileSync('taskset', ['-a', '-p', '-c', cores, String(pid)], { stdio: 'ignore' });
}

/** CPU time of all threads of a process so far, in seconds; to the nanosecond, where /proc/PID/stat counts hundredths. */
export function cpuSeconds(pid: number): number {
  let nanoseconds = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`))
    nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ', 1)[0]);
  return nanoseconds / 1e9;
}
