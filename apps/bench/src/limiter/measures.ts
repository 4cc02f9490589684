import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import { median, quantile } from '../statistics.js';
import type { Contender } from './contender.js';
import { CONTENDERS, UNLIMITED, type ContenderName } from './contenders.js';

/** Numbers by name. */
export type Measured = Readonly<Record<string, number>>;

/** What can be measured of a contender, each in a process of its own. */
export const MEASURES = { free, drain, pace, memory } satisfies Record<
  string,
  (name: ContenderName, waiters: number) => Promise<Measured>
>;
export type MeasureName = keyof typeof MEASURES;

const FREE_ROUNDS = 200;
const FREE_WARM_UP_ROUNDS = 100;
const FREE_MS = 6_000;

/** Nanoseconds of an acquire that nothing holds up; what comes after it, if anything, is timed apart. */
async function free(name: ContenderName, batch: number): Promise<Measured> {
  const contender: Contender = CONTENDERS[name](UNLIMITED);
  const acquires: number[] = [];
  const releases: number[] = [];
  const end = performance.now() + FREE_MS;
  while (acquires.length < FREE_ROUNDS && performance.now() < end) {
    const granted: unknown[] = [];
    const start = performance.now();
    for (let index = 0; index < batch; index += 1) granted.push(await contender.acquire(index));
    const got = performance.now();
    granted.forEach((each, index) => contender.release?.(each, index));
    acquires.push(((got - start) / batch) * 1e6);
    releases.push(((performance.now() - got) / batch) * 1e6);
  }
  // The first rounds are the compiler's; who is so slow that there are no others has them counted.
  const from = acquires.length > FREE_WARM_UP_ROUNDS ? FREE_WARM_UP_ROUNDS : 0;
  return { acquireNs: median(acquires.slice(from)), releaseNs: median(releases.slice(from)) };
}

/**
 * The first grants are the compiler's: what runs for days was compiled long ago. To the end each time, so that nobody is
 * left over.
 */
async function warmUp(name: ContenderName, ms: number): Promise<void> {
  const end = performance.now() + ms;
  do await new Crowd(CONTENDERS[name](20_000), 1_000).gone(1_000);
  while (performance.now() < end);
}

const DRAIN_PER_SECOND = 2_000;
const DRAIN_GRANTS = 4_000;

/** CPU of a grant while so many wait, and the rate that is reached where 2,000 a second are asked for. */
async function drain(name: ContenderName, waiters: number): Promise<Measured> {
  await warmUp(name, 5_000);
  const crowd = new Crowd(CONTENDERS[name](DRAIN_PER_SECOND), waiters);
  // Coming in is not part of a grant, nor is moving the newcomers into the old generation, nor who went on meanwhile.
  collect();
  await immediate();
  const wanted = Math.min(DRAIN_GRANTS, waiters / 2);
  if (crowd.grants + wanted > waiters) return { cpuUs: NaN, perSecond: NaN, swaps: crowd.swaps };
  const start = { at: performance.now(), cpu: process.cpuUsage() };
  await crowd.gone(crowd.grants + wanted);
  const { user, system } = process.cpuUsage(start.cpu);
  const seconds = (performance.now() - start.at) / 1000;
  return { cpuUs: (user + system) / wanted, perSecond: wanted / seconds, swaps: crowd.swaps };
}

const PACE_PER_SECOND = 100;

/** How far grants are from an even schedule, which begins where the grants fit it best. Milliseconds. */
async function pace(name: ContenderName, waiters: number): Promise<Measured> {
  await warmUp(name, 1_000);
  const contender: Contender = CONTENDERS[name](PACE_PER_SECOND);
  const order = new OrderWatch(contender);
  const times: number[] = [];
  await Promise.all(
    Array.from({ length: waiters }, async (_, index) => {
      const granted = await contender.acquire(index);
      times.push(performance.now());
      order.granted(index);
      contender.release?.(granted, index);
    }),
  );
  const lateness = times.map((time, rank) => time - (rank * 1000) / PACE_PER_SECOND);
  const schedule = median(lateness);
  const errors = lateness.map((late) => Math.abs(late - schedule));
  return { p50Ms: quantile(errors, 0.5), p99Ms: quantile(errors, 0.99), swaps: order.swaps };
}

/** So slow that hardly anybody leaves meanwhile. */
const MEMORY_PER_SECOND = 10;

/** Bytes of heap that one waiter takes, and that the process keeps. */
async function memory(name: ContenderName, waiters: number): Promise<Measured> {
  await warmUp(name, 1_000);
  const contender: Contender = CONTENDERS[name](MEMORY_PER_SECOND);
  // The first ones build what all share.
  for (let index = 0; index < 1_000; index += 1) void contender.acquire(index);
  const before = await heap();
  for (let index = 0; index < waiters; index += 1) void contender.acquire(index);
  return { bytes: ((await heap()) - before) / waiters };
}

async function heap(): Promise<number> {
  for (let round = 0; round < 3; round += 1) {
    collect();
    await sleep(1);
  }
  return process.memoryUsage().heapUsed;
}

function collect(): void {
  const { gc } = globalThis;
  if (!gc) throw new Error('This measure needs --expose-gc.');
  gc();
}

/** Callers who all come at once. */
class Crowd {
  grants = 0;
  private readonly order: OrderWatch;
  private goal = Infinity;
  private reached: (() => void) | undefined;

  constructor(contender: Contender, size: number) {
    this.order = new OrderWatch(contender);
    for (let index = 0; index < size; index += 1) {
      void contender.acquire(index).then((granted) => {
        contender.release?.(granted, index);
        this.order.granted(index);
        this.grants += 1;
        if (this.grants >= this.goal) this.reached?.();
      });
    }
  }

  get swaps(): number {
    return this.order.swaps;
  }

  /** Resolves once so many have gone on. */
  gone(count: number): Promise<void> {
    this.goal = count;
    return new Promise((resolve) => {
      this.reached = resolve;
      if (this.grants >= count) resolve();
    });
  }
}

/** Counts who goes before somebody that came earlier in its flow. */
class OrderWatch {
  swaps = 0;
  private readonly latest = new Map<number, number>();

  constructor(private readonly contender: Contender) {}

  granted(index: number): void {
    const flow = this.contender.flowOf?.(index) ?? 0;
    const before = this.latest.get(flow) ?? -1;
    if (index < before) this.swaps += 1;
    else this.latest.set(flow, index);
  }
}
