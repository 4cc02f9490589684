import { table } from '../table.js';
import { verdictTable, type Verdict } from '../verdict.js';
import { scenarios, SHOWN, type Cell, type Scale, type Scenario } from './cells.js';
import { PROVIDERS } from './provider-quotas.js';
import type { Summaries, Summary } from './summary.js';

/** The tables as Markdown: for each scenario 429s and use by provider, then waits and fairness at the sliding window. */
export function tables(summaries: Summaries, scale: Scale): string {
  return scenarios(scale.loads)
    .map((scenario) =>
      [`### ${titleOf(scenario)}`, shares(summaries, scenario), waits(summaries, scenario)].join('\n\n'),
    )
    .join('\n\n');
}

/** The whole page. */
export function pacingPage(summaries: Summaries, scale: Scale, verdicts: readonly Verdict[]): string {
  return [
    '# Pacing',
    INTRODUCTION,
    seedLine(scale),
    '## Verdicts',
    verdictTable(verdicts),
    '## Tables',
    READING,
    tables(summaries, scale),
    '',
  ].join('\n\n');
}

/** Every cell with every number, for other programs. */
export function csv(summaries: Summaries, cells: readonly Cell[]): string {
  const head =
    'bound,rhythm,load,countsRejected,limiter,provider,seeds,throttledShare,worstThrottledShare,utilisation,waitP50Ms,waitP99Ms,lightP99Ms,jain,servedShare';
  const lines = cells.map((cell) => {
    const { bound, rhythm, load, countsRejected, limiter, provider } = cell;
    const of = summaries.of(cell);
    const numbers = [of.throttledShare, of.worstThrottledShare, of.utilisation].map((share) =>
      share.toFixed(6),
    );
    const times = [of.waitP50, of.waitP99, of.lightP99].map((ms) => ms.toFixed(0));
    return [
      bound,
      rhythm,
      load,
      countsRejected,
      `"${limiter}"`,
      provider,
      of.seeds,
      ...numbers,
      ...times,
      of.jain.toFixed(4),
      of.servedShare.toFixed(4),
    ].join(',');
  });
  return [head, ...lines, ''].join('\n');
}

function shares(summaries: Summaries, scenario: Scenario): string {
  return table(
    ['429 % / quota used %', ...PROVIDERS.map(([name]) => name)],
    SHOWN.map((limiter) => [
      limiter,
      ...PROVIDERS.map(([provider]) => pair(summaries.of({ ...scenario, limiter, provider }))),
    ]),
  );
}

function waits(summaries: Summaries, scenario: Scenario): string {
  return table(
    ['at the sliding window', 'wait p50', 'wait p99', 'light team p99', 'Jain, 5 teams', 'served'],
    SHOWN.map((limiter) => {
      const of = summaries.of({ ...scenario, limiter, provider: 'sliding' });
      const times = [of.waitP50, of.waitP99, of.lightP99].map(seconds);
      return [limiter, ...times, of.jain.toFixed(3), `${(100 * of.servedShare).toFixed(0)} %`];
    }),
  );
}

function seconds(ms: number): string {
  return Number.isNaN(ms) ? 'none served' : `${(ms / 1000).toFixed(1)} s`;
}

function pair({ throttledShare, utilisation }: Summary): string {
  return `${(100 * throttledShare).toFixed(2)} / ${(100 * utilisation).toFixed(1)}`;
}

function titleOf({ bound, rhythm, load, countsRejected }: Scenario): string {
  const failures = countsRejected ? ', failed calls counted' : '';
  return `${bound === 'requests' ? 'Request' : 'Token'}-bound, ${rhythm}, ${load}x${failures}`;
}

function seedLine({ shown, judged, warmUpMs, measuredMs }: Scale): string {
  const range = (seeds: readonly number[]): string => `${seeds[0] ?? ''}..${seeds.at(-1) ?? ''}`;
  return (
    `Seeds ${range(judged)} for what is judged, ${range(shown)} for the rest; ` +
    `${measuredMs / 60_000} minutes measured after ${warmUpMs / 60_000} of warm-up, in virtual time. Means over the seeds.`
  );
}

const INTRODUCTION = `How much of a quota five rules of admission use, how many 429s they earn, and who waits how long: \`npm run bench -- pacing\`.
Weir is its own limiter code (\`createLimiter\`) under a virtual clock, once not knowing the provider's shape and once told. The other four live in \`apps/bench/src/pacing/baselines.ts\`; they serve first come, first served, and who is refused sleeps its own hint and full jitter (1 s, doubled with each refusal). The seeds' pair is the first article's: 8 at the quota's rate and 6 at 0.8 of it, both given back after a 429.
The provider allows 60 requests and 1,000,000 tokens a minute in one of six shapes, at a random phase, with whole-second hints. Arrivals are Poisson, sizes lognormal (sigma 1, mean 11,000 tokens, 25,600 where tokens bind, cut at 200,000), five teams ask for 40, 30, 15, 10 and 5 % of the demand, callers wait 60 s, one way takes 20 ms and an exponential 25 ms. Bursty is the same mean demand, all of it in the first 60 s of every 180 s.`;

const READING = `Cells are \`429 % / quota used %\` of the binding quota. Waits are of what was served, from arrival to the departure of the call that was taken. Jain's index is over what each team got of its max-min fair share. All numbers, and those of the other providers: [pacing.csv](pacing.csv).`;
