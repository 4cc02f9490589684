import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { endWithUs, REPOSITORY } from '../processes.js';

/** Where `nest build bench` puts the bench's door. */
const DOOR = join(REPOSITORY, 'dist/apps/bench/apps/bench/src/main.js');

/**
 * Compiles the cells as the gateway is compiled. From sources they would run as tsx translates them, with a call for each
 * name of a function and an accessor for each import: ours alone would pay for that, because peers come compiled.
 */
export async function buildCells(): Promise<void> {
  const nest = join(REPOSITORY, 'node_modules/@nestjs/cli/bin/nest.js');
  const child = spawn(process.execPath, [nest, 'build', 'bench'], { cwd: REPOSITORY, stdio: 'inherit' });
  endWithUs(child);
  const [code] = (await once(child, 'exit')) as unknown[];
  if (code !== 0) throw new Error('The build of the bench failed.');
}

/** A process for one cell, which is told by message which. */
export function startCell(): ChildProcess {
  const child = fork(DOOR, ['limiter-cell'], {
    cwd: REPOSITORY,
    execArgv: ['--expose-gc'],
    env: { PATH: process.env['PATH'] },
    // JSON would turn NaN, which says that nothing was measured, into null.
    serialization: 'advanced',
  });
  endWithUs(child);
  return child;
}
