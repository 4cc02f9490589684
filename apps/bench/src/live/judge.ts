import type { Milliseconds } from '@weir/kernel';
import { refusals } from '../demo/simulator-desk.js';
import { jain, maxMin } from '../pacing/fairness.js';
import { TEAMS } from '../pacing/traffic.js';
import { quantile } from '../statistics.js';
import type { Verdict } from '../verdict.js';
import { latest, LatenessScale, WAY_MS, type Lateness } from './lateness.js';
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
  /** The way to the provider and back, its answer included. */
  readonly wayP99: Milliseconds;
  /** Of the calls that the provider took, the latest. */
  readonly latestCall: Lateness;
  /** Of the refused: those who knew it within a second. */
  readonly refusedAtOnce: number;
  readonly latestRefusal: Lateness;
}

/** Who waited less did not wait for the quota. */
const AT_ONCE_MS: Milliseconds = 1_000;

/** Reduces a run to its numbers; 429s and utilisation are the ledger's. */
export function numbersOf({ calls, askedMs, admitted, ledger, stood }: LiveRun): LiveNumbers {
  const served = calls.filter(({ status }) => status === 200);
  const refused = calls.filter(({ status }) => status !== 200);
  const scale = new LatenessScale(stood);
  const waits = served.map(({ waitMs }) => waitMs);
  const ways = served.filter(({ waitMs }) => waitMs < AT_ONCE_MS).map((call) => headMs(call) - call.waitMs);
  return {
    throttled: refusals(ledger),
    throttledShare: refusals(ledger) / ledger.received,
    utilisation: admitted / (QUOTA_RATE * (askedMs / 1000)),
    jain: jainOf(calls),
    waitP50: quantile(waits, 0.5),
    longestWait: waits.reduce((a, b) => Math.max(a, b), -Infinity),
    wayP99: quantile(ways, 0.99),
    latestCall: latest(served.map(({ askedAt, receivedAt }) => scale.atProvider(askedAt, receivedAt))),
    refusedAtOnce: refused.filter((call) => headMs(call) <= AT_ONCE_MS).length / refused.length,
    latestRefusal: latest(refused.map(({ askedAt, headAt }) => scale.ofRefusal(askedAt, headAt))),
  };
}

function headMs({ askedAt, headAt }: LiveRun['calls'][number]): Milliseconds {
  return headAt - askedAt;
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
      `nobody granted after its deadline (${WAY_MS} ms to travel)`,
      numbers.longestWait <= MAX_WAIT_MS && numbers.latestCall.ofTheirs <= WAY_MS,
      `longest wait ${seconds(numbers.longestWait)}, the latest at the provider ${inWords(numbers.latestCall)}`,
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
  const { refusedAtOnce, latestRefusal } = numbers;
  return {
    claim: `${plan.shape}: refused with 429 wait_exceeds_deadline and a hint, nobody later than its deadline (${WAY_MS} ms to travel)`,
    holds:
      byUs + byProvider === refused.length &&
      byProvider <= numbers.throttled &&
      latestRefusal.ofTheirs <= WAY_MS,
    measured:
      `${byUs} of ${refused.length}, ${byProvider} with the provider's word; ${percent(refusedAtOnce)} within a second, ` +
      `the latest ${inWords(latestRefusal)}`,
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

function inWords({ onTheClock, ofTheirs }: Lateness): string {
  const stalledMs = Math.round(onTheClock - ofTheirs);
  const side = onTheClock > 0 ? 'behind' : 'before';
  const when = `${Math.round(Math.abs(onTheClock))} ms ${side} its deadline`;
  return stalledMs > 0 ? `${when}, less ${stalledMs} ms of stalls on its way` : when;
}
