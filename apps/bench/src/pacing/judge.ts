import type { Verdict } from '../verdict.js';
import { BURSTY_LOAD, FIFO, OVERLOAD, UNHURRIED, type Cell } from './cells.js';
import { PROVIDERS } from './provider-quotas.js';
import type { Summaries, Summary } from './summary.js';

type Bound = Cell['bound'];

/** What is claimed of the pacing, line by line. */
export function judgePacing(summaries: Summaries): readonly Verdict[] {
  const leastUse: Record<Bound, number> = { requests: 0.97, tokens: 0.92 };
  return [
    ...(['requests', 'tokens'] as const).flatMap((bound) =>
      [false, true].flatMap((countsRejected) => overload(summaries, bound, countsRejected, leastUse[bound])),
    ),
    ...[false, true].map((countsRejected) => lightTeam(summaries, countsRejected)),
    burst(summaries),
  ];
}

function overload(
  summaries: Summaries,
  bound: Bound,
  countsRejected: boolean,
  leastUse: number,
): readonly Verdict[] {
  const each = PROVIDERS.map(([provider]) => ({
    provider,
    ...summaries.of({
      bound,
      countsRejected,
      provider,
      rhythm: 'steady',
      load: OVERLOAD,
      limiter: 'Weir, unknown',
    }),
  }));
  const where = `${bound === 'requests' ? 'request' : 'token'}-bound, ${OVERLOAD}x, shape unknown${countsRejected ? ', failed calls counted' : ''}`;
  const most = (field: keyof Summary): Named => worst(each, field, 1);
  const least = (field: keyof Summary): Named => worst(each, field, -1);
  const atMost = (claim: string, bad: Named, limit: number): Verdict => ({
    claim: `${where}: ${claim}`,
    holds: bad.value <= limit,
    measured: percent(bad),
  });
  const atLeast = (claim: string, bad: Named, limit: number): Verdict => ({
    claim: `${where}: ${claim}`,
    holds: bad.value >= limit,
    measured: percent(bad),
  });
  return [
    atMost('at most 0.1 % of 429s on each shape', most('throttledShare'), 0.001),
    atMost('worst seed at most 0.5 %', most('worstThrottledShare'), 0.005),
    atLeast(`at least ${100 * leastUse} % of the quota on each shape`, least('utilisation'), leastUse),
    atLeast('Jain at least 99 %', least('jain'), 0.99),
  ];
}

function lightTeam(summaries: Summaries, countsRejected: boolean): Verdict {
  const cell = {
    bound: 'requests',
    rhythm: 'steady',
    load: OVERLOAD,
    provider: 'sliding',
    countsRejected,
  } as const;
  const ours = summaries.of({ ...cell, limiter: 'Weir, unknown' }).lightP99;
  const fifo = Math.min(...FIFO.map((limiter) => summaries.of({ ...cell, limiter }).lightP99));
  return {
    claim: `the light team's p99 wait is under half of plain FIFO's${countsRejected ? ', failed calls counted' : ''}`,
    holds: ours < fifo / 2,
    measured: `${(ours / 1000).toFixed(1)} s against ${(fifo / 1000).toFixed(1)} s`,
  };
}

function burst(summaries: Summaries): Verdict {
  const { utilisation } = summaries.of(UNHURRIED);
  return {
    claim: `declared bucket(60), bursty (${3 * BURSTY_LOAD}x for 60 s of 180 s), early refusal off: at least 95 % of the quota`,
    holds: utilisation >= 0.95,
    measured: `${(100 * utilisation).toFixed(2)} %`,
  };
}

interface Named {
  readonly provider: string;
  readonly value: number;
}

/** @param sign 1: the largest is the worst */
function worst(
  each: readonly (Summary & { readonly provider: string })[],
  field: keyof Summary,
  sign: 1 | -1,
): Named {
  const named = each.map((summary) => ({ provider: summary.provider, value: summary[field] }));
  return named.reduce((bad, next) => (sign * next.value > sign * bad.value ? next : bad));
}

function percent({ provider, value }: Named): string {
  return `${(100 * value).toFixed(3)} % (${provider})`;
}
