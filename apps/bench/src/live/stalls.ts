import type { EpochMilliseconds, Milliseconds } from '@weir/kernel';

/** A time in which a process did not run: its timer rang that late. On the wall clock, which all processes share. */
export interface Stall {
  readonly from: EpochMilliseconds;
  readonly to: EpochMilliseconds;
}

/** How often a process looks at the clock. */
const EVERY_MS: Milliseconds = 10;
/** What is shorter is no stall but an ordinary day. */
const LEAST_MS: Milliseconds = 25;

/** Notes when this process stood still, for whatever reason: no CPU, a long piece of work, a machine that was paused. */
export class StallLog {
  readonly stalls: Stall[] = [];
  private timer: NodeJS.Timeout | undefined;
  private ranAt: EpochMilliseconds = 0;

  /** Begins, and keeps no process alive. */
  start(): void {
    this.ranAt = Date.now();
    this.timer = setInterval(() => {
      this.look();
    }, EVERY_MS).unref();
  }

  /** Ends; a stall that lasts until now is noted. */
  stop(): readonly Stall[] {
    clearInterval(this.timer);
    this.look();
    return this.stalls;
  }

  private look(): void {
    const now = Date.now();
    if (now - this.ranAt >= LEAST_MS) this.stalls.push({ from: this.ranAt, to: now });
    this.ranAt = now;
  }
}

/** The times in which any of them stood still, in order and without overlap. */
export function unionOf(...logs: readonly (readonly Stall[])[]): readonly Stall[] {
  const union: Stall[] = [];
  for (const stall of logs.flat().sort((a, b) => a.from - b.from)) {
    const last = union.at(-1);
    if (last === undefined || stall.from > last.to) union.push(stall);
    else union[union.length - 1] = { from: last.from, to: Math.max(last.to, stall.to) };
  }
  return union;
}

/** How much of a time was stalled. @param stalls in order, without overlap */
export function stalledIn(
  from: EpochMilliseconds,
  to: EpochMilliseconds,
  stalls: readonly Stall[],
): Milliseconds {
  let sum = 0;
  for (let at = firstAfter(from, stalls); at < stalls.length; at += 1) {
    const stall = stalls[at];
    if (stall === undefined || stall.from >= to) break;
    sum += Math.max(0, Math.min(stall.to, to) - Math.max(stall.from, from));
  }
  return sum;
}

/** How much longer something takes that begins at `from` and needs so much time of running. @param stalls in order, without overlap */
export function stalledFrom(
  from: EpochMilliseconds,
  runningMs: Milliseconds,
  stalls: readonly Stall[],
): Milliseconds {
  let end = from + runningMs;
  for (let at = firstAfter(from, stalls); at < stalls.length; at += 1) {
    const stall = stalls[at];
    if (stall === undefined || stall.from >= end) break;
    end += stall.to - Math.max(stall.from, from);
  }
  return end - from - runningMs;
}

/** The first that is not over by then: a run has thousands of stalls, and tens of thousands of calls. */
function firstAfter(time: EpochMilliseconds, stalls: readonly Stall[]): number {
  let [low, high] = [0, stalls.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((stalls[middle]?.to ?? Infinity) > time) high = middle;
    else low = middle + 1;
  }
  return low;
}
