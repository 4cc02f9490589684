import type { Milliseconds } from '@weir/kernel';
import { refusals } from '../demo/simulator-desk.js';
import { jain, maxMin } from '../pacing/fairness.js';
import { TEAMS } from '../pacing/traffic.js';
import { quantile } from '../statistics.js';
import type { Verdict } from '../verdict.js';
import { MAX_WAIT_MS, QUOTA_RATE } from './plan.js';
import type { LiveRun } from './run.js';

/** What is promised. */
export interface Bars {
  /** Of calls that the provider received. */
  readonly throttledShare: number;
  readonly utilisation: number;
  readonly jain: number;
}

/** The bars of ten minutes. */
export const BARS: Bars = { throttledShare: 0.005, utilisation: 0.93, jain: 0.99 };

/** Numbers of one run. */
export interface LiveNumbers {
  readonly throttled: number;
  readonly throttledShare: number;
  readonly utilisation: number;
  readonly jain: number;
  readonly waitP50: Milliseconds;
  readonly longestWait: Milliseconds;
  /** The way to the provider and back, its answer included: the longest, and the 99th percentile. */
  readonly longestWay: Milliseconds;
  readonly wayP99: Milliseconds;
  /** The latest of the calls that were certainly late at the provider; negative where none was. */
  readonly latestMs: Milliseconds;
  /** Of the refused: those who knew it within a second. */
  readonly refusedAtOnce: number;
  readonly latestRefusal: Milliseconds;
}

/** Who waited less did not wait for the quota. */
const AT_ONCE_MS: Milliseconds = 1_000;
/** What loopback and three event loops may take in any case. */
const LEAST_WAY_MS: Milliseconds = 250;

/** Reduces a run to its numbers; 429s and utilisation are the ledger's. */
export function numbersOf({ calls, askedMs, admitted, ledger }: LiveRun): LiveNumbers {
  const served = calls.filter(({ status }) => status === 200);
  const refused = calls.filter(({ status }) => status !== 200).map(({ headMs }) => headMs);
  const waits = served.map(({ waitMs }) => waitMs);
  // Of those who were in no hurry: a grant behind its deadline cannot hide among them.
  const ways = served
    .filter(({ waitMs }) => waitMs < AT_ONCE_MS)
    .map(({ headMs, waitMs }) => headMs - waitMs);
  const most = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b), -Infinity);
  return {
    throttled: refusals(ledger),
    throttledShare: refusals(ledger) / ledger.received,
    utilisation: admitted / (QUOTA_RATE * (askedMs / 1000)),
    jain: jainOf(calls),
    waitP50: quantile(waits, 0.5),
    longestWait: most(waits),
    longestWay: Math.max(LEAST_WAY_MS, most(ways)),
    wayP99: quantile(ways, 0.99),
    latestMs: most(served.map(({ lateMs }) => lateMs)),
    refusedAtOnce: refused.filter((ms) => ms <= AT_ONCE_MS).length / refused.length,
    latestRefusal: most(refused),
  };
}

/** Jain's index over what each team got of its max-min fair share. */
function jainOf(calls: LiveRun['calls']): number {
  const count = (keep: (call: LiveRun['calls'][number]) => boolean): number[] =>
    TEAMS.map(([id]) => calls.filter((call) => call.team === id && keep(call)).length);
  const got = count(({ status }) => status === 200);
  const supply = got.reduce((sum, each) => sum + each, 0);
  const fair = maxMin(
    count(() => true),
    supply,
  );
  return jain(got.map((each, at) => each / (fair[at] ?? NaN)));
}

/** One verdict per promise. */
export function judgeLive(run: LiveRun, bars: Bars = BARS): readonly Verdict[] {
  const numbers = numbersOf(run);
  const { ledger, calls } = run;
  const { throttled, throttledShare, utilisation } = numbers;
  const verdict = (claim: string, holds: boolean, measured: string): Verdict => ({
    claim: `${run.plan.shape}: ${claim}`,
    holds,
    measured,
  });
  const served = calls.filter(({ status }) => status === 200).length;
  const fairness = numbers.jain;
  return [
    verdict(
      `at most ${percent(bars.throttledShare)} of 429s, learning included`,
      throttledShare <= bars.throttledShare,
      `${throttled} of ${ledger.received} calls, ${percent(throttledShare, 3)}`,
    ),
    verdict(
      `at least ${percent(bars.utilisation)} of the quota`,
      utilisation >= bars.utilisation,
      percent(utilisation),
    ),
    verdict(
      'the ledger has every answer that callers got',
      ledger.completed === served,
      `${ledger.completed} completed, ${served} served`,
    ),
    verdict(
      'nobody granted after its deadline',
      numbers.longestWait <= MAX_WAIT_MS && numbers.latestMs <= numbers.longestWay,
      `longest wait ${seconds(numbers.longestWait)}, ${lateness(numbers)}`,
    ),
    refusal(run, numbers),
    verdict(`Jain at least ${bars.jain}`, fairness >= bars.jain, fairness.toFixed(4)),
  ];
}

/** A call that the provider refused, and that has no time for its hint, is refused with the provider's word. */
function refusal({ plan, calls }: LiveRun, numbers: LiveNumbers): Verdict {
  const refused = calls.filter(({ status }) => status !== 200);
  const told = (word: string): number =>
    refused.filter(({ status, code, hinted }) => status === 429 && code === word && hinted).length;
  const [byUs, byProvider] = [told('wait_exceeds_deadline'), told('upstream_rate_limited')];
  const { refusedAtOnce, latestRefusal, longestWay } = numbers;
  return {
    claim: `${plan.shape}: refused with 429 wait_exceeds_deadline and a hint, nobody later than its deadline`,
    holds:
      byUs + byProvider === refused.length &&
      byProvider <= numbers.throttled &&
      latestRefusal <= MAX_WAIT_MS + 2 * longestWay,
    measured:
      `${byUs} of ${refused.length}, ${byProvider} with the provider's word; ${percent(refusedAtOnce)} within a second, ` +
      `the last after ${seconds(latestRefusal)}`,
  };
}

/** A share in words. */
export function percent(share: number, digits = 1): string {
  return `${(100 * share).toFixed(digits)} %`;
}

/** A time in words. */
export function seconds(ms: Milliseconds): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

function lateness({ latestMs, longestWay }: LiveNumbers): string {
  const way = `the way took up to ${Math.round(longestWay)} ms`;
  return latestMs > 0
    ? `one was ${Math.round(latestMs)} ms late at the provider, where ${way}`
    : 'none was late at the provider';
}
