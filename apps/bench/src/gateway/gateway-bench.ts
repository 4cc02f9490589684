import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { end, REPOSITORY } from '../processes.js';
import { verdictLine } from '../verdict.js';
import { judgeGateway } from './judge.js';
import { LOADS } from './loads.js';
import { lostSpans } from './lost-spans.js';
import { measure, warmUp } from './measure.js';
import { installPeers } from './portkey-server.js';
import { gatewayPage, gatewayTables } from './report.js';
import { Results } from './results.js';
import { startCallers } from './server-process.js';
import { startField, type Field } from './targets.js';

const FOLDER = join(REPOSITORY, 'docs/benchmarks');
const ROUNDS = 5;

/**
 * Compares what gateways cost in CPU; prints the tables and the verdicts. `--rounds=N` (default 5) shortens
 * it, and then nothing is written; without it docs/benchmarks/gateway.md is.
 * @returns whether every verdict holds
 */
export async function gatewayBench(options: readonly string[]): Promise<boolean> {
  const rounds = Number(options.find((option) => option.startsWith('--rounds='))?.slice(9) ?? ROUNDS);
  await installPeers();
  await buildGateway();
  const [loadBefore = NaN] = loadavg();
  const field = await startField();
  try {
    const results = await measureAll(field, rounds);
    const verdicts = judgeGateway(results);
    console.log(`${gatewayTables(results)}\n`);
    for (const verdict of verdicts) console.log(verdictLine(verdict));
    if (rounds === ROUNDS) {
      const [loadAfter = NaN] = loadavg();
      const lost = await lostSpans(field.exporter);
      await mkdir(FOLDER, { recursive: true });
      const circumstances = { rounds, loadAverages: [loadBefore, loadAfter], lostSpans: lost } as const;
      await writeFile(join(FOLDER, 'gateway.md'), gatewayPage(results, circumstances, verdicts));
    }
    return verdicts.every(({ holds }) => holds);
  } finally {
    await field.stop();
  }
}

/**
 * Every target with every load, again and again; the order turns. One load after the other: servers whose load changes are
 * compiled anew, some of them sooner than others, and a round of all loads would measure little else.
 */
async function measureAll({ targets }: Field, rounds: number): Promise<Results> {
  const callers = startCallers();
  const results = new Results();
  for (const load of LOADS) {
    for (const target of targets) await warmUp(callers, target, load);
    for (let round = 0; round < rounds; round += 1) {
      if (process.stderr.isTTY) process.stderr.write(`\r${load.name}, round ${round + 1} of ${rounds} `);
      const turned = [...targets.slice(round % targets.length), ...targets.slice(0, round % targets.length)];
      for (const target of turned) results.add(load.name, target.name, await measure(callers, target, load));
    }
  }
  await end(callers);
  return results;
}

/** What runs in production is measured: compiled by tsc, not by a loader that adds to every function. */
async function buildGateway(): Promise<void> {
  const nest = join(REPOSITORY, 'node_modules/@nestjs/cli/bin/nest.js');
  const child = spawn(process.execPath, [nest, 'build', 'gateway'], { cwd: REPOSITORY, stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error('The gateway could not be built.');
}
