/**
 * `npm start`: builds what is out of date, runs simulator and gateway together, and ends both together.
 * Plain JavaScript, so that a Node that is too old reaches the sentence that says so.
 */
import { join } from 'node:path';
import { buildIfStale } from './start/build.mjs';
import { complaintAbout } from './start/node-version.mjs';
import { plan, say } from './start/plan.mjs';
import { supervise } from './start/supervise.mjs';

/** @returns the exit code: 0 after a signal, 1 after a fault. */
async function start(over) {
  const complaint = complaintAbout(process.versions.node);
  if (complaint) throw new Error(complaint);
  const root = join(import.meta.dirname, '..');
  const { services, greeting } = await plan(root, process.env);
  await buildIfStale(root, over);
  return supervise(services, { over, greet: () => say(greeting) });
}

const over = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => over.abort());
}
// A request to reload, not to end. A terminal that closes takes npm with it, which is noticed below.
process.on('SIGHUP', () => {});
// Whoever kills npm with SIGKILL sends us nothing; we are then handed to another parent.
const parent = process.ppid;
setInterval(() => process.ppid === parent || over.abort(), 200).unref();

process.exitCode = await start(over.signal).catch((failure) => {
  if (over.signal.aborted) return 0;
  say(failure.message);
  return 1;
});
