import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { REPOSITORY } from '../processes.js';
import { verdictLine } from '../verdict.js';
import { judgeLive } from './judge.js';
import { isShape, SHAPE_NAMES, type LivePlan, type ShapeName } from './plan.js';
import { livePage, liveTable } from './report.js';
import { runLive } from './run.js';

const FOLDER = join(REPOSITORY, 'docs/benchmarks');
const MINUTES = 10;
const FIRST_SEED = 201;

/**
 * The running gateway against the simulator: `--minutes=10`, `--shapes=sliding,quantum(1)`. With the defaults
 * docs/benchmarks/live.md is written.
 * @returns whether every verdict holds
 */
export async function live(options: readonly string[]): Promise<boolean> {
  const minutes = Number(valueOf(options, 'minutes') ?? MINUTES);
  const shapes = shapesOf(valueOf(options, 'shapes'));
  const plans = shapes.map((shape, at): LivePlan => ({ shape, minutes, seed: FIRST_SEED + at }));
  // All at once: each takes a tenth of a core.
  const runs = await Promise.all(plans.map(runLive));
  const verdicts = runs.flatMap((run) => judgeLive(run));
  console.log(`${liveTable(runs)}\n`);
  for (const verdict of verdicts) console.log(verdictLine(verdict));
  if (minutes === MINUTES && shapes.length === SHAPE_NAMES.length) {
    await mkdir(FOLDER, { recursive: true });
    await writeFile(
      join(FOLDER, 'live.md'),
      livePage(runs, verdicts, ['npm run bench --', 'pacing', ...options].join(' ')),
    );
  }
  return verdicts.every(({ holds }) => holds);
}

function shapesOf(list: string | undefined): readonly ShapeName[] {
  if (list === undefined) return SHAPE_NAMES;
  return list.split(',').map((name) => {
    if (isShape(name)) return name;
    throw new Error(`${name} is no shape of the simulator. One of: ${SHAPE_NAMES.join(', ')}.`);
  });
}

function valueOf(options: readonly string[], name: string): string | undefined {
  const start = `--${name}=`;
  return options.find((option) => option.startsWith(start))?.slice(start.length);
}
