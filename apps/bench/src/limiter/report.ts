import { availableParallelism } from 'node:os';
import { table } from '../table.js';
import { verdictTable, type Verdict } from '../verdict.js';
import { CONTENDERS, type ContenderName } from './contenders.js';
import type { Measurements } from './measurements.js';

const NAMES = Object.keys(CONTENDERS) as readonly ContenderName[];

/** Costs, drains and paces as Markdown. */
export function limiterTables(all: Measurements): string {
  const number = (value: number, digits = 0): string => (Number.isNaN(value) ? '' : value.toFixed(digits));
  const costs = table(
    ['nobody waits; heap', 'acquire ns', 'release ns', 'bytes a waiter, 1k', '10k', '100k'],
    NAMES.map((name) => [
      name,
      number(all.of(name, 'free', 1_000, 'acquireNs')),
      number(all.of(name, 'free', 1_000, 'releaseNs')),
      ...[1_000, 10_000, 100_000].map((waiters) => number(all.of(name, 'memory', waiters, 'bytes'))),
    ]),
  );
  const drains = table(
    ['2,000 a second are asked for', 'CPU us a grant, 1k wait', '10k', '100k', 'grants/s, 1k', '10k', '100k'],
    NAMES.map((name) => [
      name,
      ...DEPTHS.map((waiters) => number(all.of(name, 'drain', waiters, 'cpuUs'), 1)),
      ...DEPTHS.map((waiters) => number(all.of(name, 'drain', waiters, 'perSecond'))),
    ]),
  );
  const paces = table(
    [
      '300 at 100 a second',
      'pacing error p50 ms',
      'p99 ms',
      'p99 ms, quietest round',
      'out of order',
      'out of order, drain of 10k',
    ],
    NAMES.map((name) => [
      name,
      number(all.of(name, 'pace', 300, 'p50Ms'), 1),
      number(all.of(name, 'pace', 300, 'p99Ms'), 1),
      number(all.least(name, 'pace', 300, 'p99Ms'), 1),
      number(all.of(name, 'pace', 300, 'swaps')),
      number(all.of(name, 'drain', 10_000, 'swaps')),
    ]),
  );
  return [costs, drains, paces].join('\n\n');
}

const DEPTHS = [1_000, 10_000, 100_000];

/** The whole page. */
export function limiterPage(all: Measurements, rounds: number, verdicts: readonly Verdict[]): string {
  const machine = `Node ${process.version}, ${availableParallelism()} cores, ${process.platform} ${process.arch}`;
  return [
    '# What a limiter costs',
    `\`npm run bench -- limiter\`, medians of ${rounds} interleaved rounds, every number from a fresh process. ${machine}. Times of one machine: only the ratios travel.`,
    CONTENDER_NOTES,
    '## Verdicts',
    verdictTable(verdicts),
    '## Tables',
    READING,
    limiterTables(all),
    '',
  ].join('\n\n');
}

const CONTENDER_NOTES = `Weir's limiter runs as in the gateway: every request enters, acquires over six dimensions (requests, tokens and slots of the account, requests and tokens of the model, tokens of the team), settles and leaves; 50 teams, deadlines, fair order; its account's requests are what binds. In one row nobody has a signal, in the other each caller has an AbortSignal of its own. It is compiled as for the gateway. The others have one limit: bottleneck \`minTime\`, limiter's TokenBucket of a second's worth, rate-limiter-flexible's queue over its memory limiter, p-queue \`intervalCap\` in tenths of a second, p-throttle one call an interval, and a plain port of the first article's bucket (capacity 8).`;

const READING = `*Acquire*: time of one that nothing holds up. *Bytes*: heap of one waiter, promise included. *CPU a grant*: process CPU over 4,000 grants (500 where 1,000 wait) from when all have come in, settlement included, after five seconds of drains for the compiler. *Pacing error*: distance from the even schedule that fits the grants best; bursts and drift count. *Out of order*: grants that overtook an earlier caller (of the same team, at Weir).`;
