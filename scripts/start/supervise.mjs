import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { say } from './plan.mjs';

/** Milliseconds. Together under the two seconds within which Ctrl-C must end everything. */
const GRACE = 1500;
const READY_WITHIN = 60_000;
const POLL_EVERY = 50;
/** In a terminal a child gets Ctrl-C too and may end before we hear of it: this long an end is not called a fault. */
const SIGNAL_SPREAD = 100;

const hasEnded = (child) => child.exitCode !== null || child.signalCode !== null;

function launch(service) {
  return spawn(process.execPath, ['--enable-source-maps', service.entry], {
    env: { ...process.env, ...service.environment },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

/** Waits until the service says that it may be used; returns early once `over` is aborted. */
async function untilReady(service, over) {
  const deadline = Date.now() + READY_WITHIN;
  while (!over.aborted) {
    const answer = await fetch(service.url + service.ready, { signal: AbortSignal.timeout(1000) }).catch(
      () => undefined,
    );
    await answer?.body?.cancel();
    if (answer?.ok) return;
    if (Date.now() > deadline)
      throw new Error(`The ${service.name} did not get ready at ${service.url}${service.ready}.`);
    await sleep(POLL_EVERY);
  }
}

async function end({ name }, child) {
  if (hasEnded(child)) return;
  const ended = once(child, 'exit');
  // As from a terminal: the gateway then gives running streams half a second, not its whole drain.
  child.kill('SIGINT');
  const inTime = await Promise.race([ended, sleep(GRACE, undefined, { ref: false })]);
  if (inTime) return;
  say(`The ${name} was still busy after ${GRACE} ms and was cut off.`);
  child.kill('SIGKILL');
  await ended;
}

/**
 * Runs services until `over` is aborted or one of them ends; then ends all of them.
 * @param greet called once, when every service is ready
 * @returns 0 where it was asked to end, 1 after a fault
 */
export async function supervise(services, { over, greet }) {
  const fault = new AbortController();
  const ending = AbortSignal.any([over, fault.signal]);
  const children = new Map();

  const run = (service) => {
    const child = launch(service);
    children.set(service, child);
    child.once('exit', async (code, signal) => {
      await sleep(SIGNAL_SPREAD);
      if (ending.aborted) return;
      say(`The ${service.name} ended (${signal ?? `code ${code}`}); stopping the rest.`);
      fault.abort();
    });
  };

  try {
    for (const service of services) {
      if (ending.aborted) break;
      run(service);
      await untilReady(service, ending);
    }
    if (!ending.aborted) {
      greet();
      await once(ending, 'abort');
    }
  } catch (failure) {
    say(failure.message);
    fault.abort();
  }
  await Promise.all([...children].map(([service, child]) => end(service, child)));
  return fault.signal.aborted ? 1 : 0;
}
