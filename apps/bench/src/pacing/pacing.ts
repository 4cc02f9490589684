import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { REPOSITORY } from '../processes.js';
import { verdictLine } from '../verdict.js';
import { cells, FULL, isJudged, QUICK, type Cell, type Scale } from './cells.js';
import { judgePacing } from './judge.js';
import { runAll } from './lanes.js';
import { csv, pacingPage, tables } from './report.js';
import type { RunPlan } from './run.js';
import { Summaries } from './summary.js';

const FOLDER = join(REPOSITORY, 'docs/benchmarks');

/**
 * Compares rules of admission in virtual time; prints the tables and the verdicts.
 * `--quick` runs a glance of it, whose verdicts mean nothing yet; without it docs/benchmarks/pacing.md and .csv are written.
 * @returns whether every verdict holds
 */
export async function pacing(options: readonly string[]): Promise<boolean> {
  const quick = options.includes('--quick');
  const scale = quick ? QUICK : FULL;
  const all = cells(scale.loads);
  const summaries = await summarise(all, scale);
  const verdicts = judgePacing(summaries);
  console.log(`${tables(summaries, scale)}\n`);
  for (const verdict of verdicts) console.log(verdictLine(verdict));
  if (quick) return true;
  await mkdir(FOLDER, { recursive: true });
  await writeFile(join(FOLDER, 'pacing.md'), pacingPage(summaries, scale, verdicts));
  await writeFile(join(FOLDER, 'pacing.csv'), csv(summaries, all));
  return verdicts.every(({ holds }) => holds);
}

/** Runs every cell with all of its seeds. */
export async function summarise(all: readonly Cell[], scale: Scale): Promise<Summaries> {
  const { warmUpMs, measuredMs, shown, judged } = scale;
  const plans = all.flatMap((cell): RunPlan[] =>
    (isJudged(cell) ? judged : shown).map((seed) => ({ ...cell, seed, warmUpMs, measuredMs })),
  );
  const summaries = new Summaries();
  let done = 0;
  await runAll(plans, (plan, result) => {
    summaries.add(plan, result);
    done += 1;
    if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${plans.length} runs `);
  });
  return summaries;
}
