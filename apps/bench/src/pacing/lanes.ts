import { availableParallelism } from 'node:os';
import { end, nextMessage, startClient } from '../processes.js';
import { runPlan, RunPlan, RunResult } from './run.js';

/** Runs every plan, as many at a time as there are cores, each in a process that does nothing else. */
export async function runAll(
  plans: readonly RunPlan[],
  onDone: (plan: RunPlan, result: RunResult) => void,
): Promise<void> {
  const rest = plans.values();
  const lanes = Array.from({ length: Math.min(plans.length, availableParallelism()) }, async () => {
    const worker = startClient('pacing-worker');
    try {
      for (const plan of rest) {
        worker.send(plan);
        onDone(plan, RunResult.parse(await nextMessage(worker)));
      }
    } finally {
      await end(worker);
    }
  });
  await Promise.all(lanes);
}

/** A worker: a plan comes in, its result goes out, until the parent ends it. */
export async function workerProcess(): Promise<void> {
  process.on('message', (message) => {
    void runPlan(RunPlan.parse(message)).then((result) => process.send?.(result));
  });
}
