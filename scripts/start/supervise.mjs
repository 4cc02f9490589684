import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { say } from './plan.mjs';

/** Milliseconds in which all services must have ended: less than the two seconds that Ctrl-C may take. */
const GRACE = 1700;
/** The part of it that is kept for each service that comes after. */
const SHARE = 300;
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

/** @param grace milliseconds until it is cut off */
async function end({ name, endsBy }, child, grace) {
  if (hasEnded(child)) return;
  const ended = once(child, 'exit');
  child.kill(endsBy);
  const inTime = await Promise.race([ended, sleep(grace, undefined, { ref: false })]);
  if (inTime) return;
  say(`The ${name} was still busy after ${Math.round(grace)} ms and was cut off.`);
  child.kill('SIGKILL');
  await ended;
}

/** Ends one service after the other, the last started first: whoever calls another ends before it. */
async function endAll(children) {
  const deadline = Date.now() + GRACE;
  const order = [...children].reverse();
  for (const [at, [service, child]] of order.entries()) {
    await end(service, child, deadline - Date.now() - SHARE * (order.length - 1 - at));
  }
}

/**
 * Runs services until `over` is aborted or one of them ends; then ends all of them. SIGHUP is passed on to whoever reloads.
 * @param greet called once, when every service is ready
 * @returns 0 where it was asked to end, 1 after a fault
 */
export async function supervise(services, { over, greet }) {
  const fault = new AbortController();
  const ending = AbortSignal.any([over, fault.signal]);
  const children = new Map();
  const ready = new Set();

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
  // Before it is ready a service may not listen for the signal yet, and would die of it.
  process.on('SIGHUP', () => {
    for (const service of ready) if (service.reloads) children.get(service).kill('SIGHUP');
  });

  try {
    for (const service of services) {
      if (ending.aborted) break;
      run(service);
      await untilReady(service, ending);
      if (ending.aborted) break;
      await service.prepare?.();
      ready.add(service);
    }
    if (!ending.aborted) {
      greet();
      await once(ending, 'abort');
    }
  } catch (failure) {
    say(failure.message);
    fault.abort();
  }
  await endAll(children);
  return fault.signal.aborted ? 1 : 0;
}
