import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { nextMessage, REPOSITORY } from '../processes.js';
import { verdictLine } from '../verdict.js';
import { buildCells, startCell } from './built.js';
import type { LimiterCell } from './cell.js';
import { CONTENDERS, type ContenderName } from './contenders.js';
import { judgeLimiter } from './judge.js';
import type { MeasureName } from './measures.js';
import { Measurements } from './measurements.js';
import { limiterPage, limiterTables } from './report.js';

const FILE = join(REPOSITORY, 'docs/benchmarks/limiter.md');
const ROUNDS = 3;
const NAMES = Object.keys(CONTENDERS) as readonly ContenderName[];

/** What is measured of everybody, and what of Weir alone. */
const PROGRAM: readonly (readonly [MeasureName, waiters: number, who: readonly ContenderName[]])[] = [
  ['free', 1_000, NAMES],
  ['memory', 1_000, NAMES],
  ['memory', 10_000, NAMES],
  ['memory', 100_000, ['Weir, 6 dimensions']],
  ['pace', 300, NAMES],
  ['drain', 1_000, NAMES],
  ['drain', 10_000, NAMES],
  ['drain', 100_000, ['Weir, 6 dimensions', 'Weir, an AbortSignal each']],
];

/**
 * Compares what limiters cost; prints the tables and the verdicts. `--rounds=N` (default 3) shortens
 * it, and then nothing is written; without it docs/benchmarks/limiter.md is.
 * @returns whether every verdict holds
 */
export async function limiterBench(options: readonly string[]): Promise<boolean> {
  const rounds = Number(options.find((option) => option.startsWith('--rounds='))?.slice(9) ?? ROUNDS);
  const all = new Measurements();
  await buildCells();
  for (let round = 0; round < rounds; round += 1) {
    for (const cell of program()) {
      all.add(cell, await run(cell));
      if (process.stderr.isTTY) process.stderr.write(`\rround ${round + 1} of ${rounds}: ${cell.measure} `);
    }
  }
  const verdicts = judgeLimiter(all);
  console.log(`${limiterTables(all)}\n`);
  for (const verdict of verdicts) console.log(verdictLine(verdict));
  if (rounds === ROUNDS) {
    await mkdir(join(REPOSITORY, 'docs/benchmarks'), { recursive: true });
    await writeFile(FILE, limiterPage(all, rounds, verdicts));
  }
  return verdicts.every(({ holds }) => holds);
}

function program(): readonly LimiterCell[] {
  return PROGRAM.flatMap(([measure, waiters, who]) =>
    who.map((contender) => ({ measure, waiters, contender })),
  );
}

/** One cell in a fresh process, so that nobody inherits another's heap or compiled code. */
async function run(cell: LimiterCell): Promise<Readonly<Record<string, number>>> {
  const child = startCell();
  child.send(cell);
  return z.record(z.string(), z.number().or(z.nan())).parse(await nextMessage(child));
}
