import { table } from '../table.js';
import { verdictTable, type Verdict } from '../verdict.js';
import { numbersOf, percent, seconds } from './judge.js';
import { DELAY_SPREAD_MS, LIMIT, LOAD, MAX_WAIT_MS, QUOTA_RATE, WINDOW_SECONDS } from './plan.js';
import { WAY_MS } from './lateness.js';
import type { LiveRun } from './run.js';
import type { Stall } from './stalls.js';

/** A line per shape. */
export function liveTable(runs: readonly LiveRun[]): string {
  return table(
    [
      'shape',
      'minutes',
      'asked',
      'received',
      '429s',
      '429 share',
      'quota used',
      'Jain',
      'wait p50',
      'learned',
      'way p99',
      'stood still: gateway',
      'provider',
      'callers',
    ],
    runs.map((run) => {
      const { throttled, throttledShare, utilisation, jain, waitP50, wayP99 } = numbersOf(run);
      return [
        run.plan.shape,
        String(run.plan.minutes),
        String(run.calls.length),
        String(run.ledger.received),
        String(throttled),
        percent(throttledShare, 3),
        percent(utilisation),
        jain.toFixed(4),
        seconds(waitP50),
        run.learned,
        `${wayP99.toFixed(0)} ms`,
        ...[run.stood.gateway, run.stood.provider, run.stood.callers].map(stoodStill),
      ];
    }),
  );
}

/** How long in all, and the longest. */
function stoodStill(stalls: readonly Stall[]): string {
  const all = stalls.map(({ from, to }) => to - from);
  const total = all.reduce((sum, ms) => sum + ms, 0);
  return `${seconds(total)} (${Math.max(0, ...all)} ms)`;
}

/** The whole page. */
export function livePage(runs: readonly LiveRun[], verdicts: readonly Verdict[], command: string): string {
  return [
    '# Pacing in the running gateway',
    introduction(command),
    '## Verdicts',
    verdictTable(verdicts),
    '## Numbers',
    liveTable(runs),
    READING,
    '',
  ].join('\n\n');
}

function introduction(command: string): string {
  return `The gateway and the simulator as processes of their own, over HTTP on loopback: \`${command}\`.
The provider allows ${LIMIT} requests in ${WINDOW_SECONDS} s (${QUOTA_RATE} a second) in one of six shapes; the gateway knows the number and not the shape (\`shape: unknown\`, \`delaySpreadMs: ${DELAY_SPREAD_MS}\`). Five teams ask for 40, 30, 15, 10 and 5 % of ${LOAD} times the quota: Poisson arrivals that do not wait for one another, seeded. A caller waits ${MAX_WAIT_MS / 1000} s. The start, when nothing is learned yet, is measured like the rest.
All shapes at the same time, each with a gateway and a provider of its own. The judge is the simulator's ledger.`;
}

const READING = `Quota used is what the provider admitted while it was asked, of what it has room for. Jain's index is over what each team got of its max-min fair share. "Learned" is what \`GET /admin/v1/status\` says at the end.
A call reached the provider when \`x-sim-received-at\` says so; its deadline is its caller's, on the same wall clock. Between the two lie the way to the gateway and the way on, for which there are ${WAY_MS} ms. Each process records when it stands still (its timers ring 25 ms late or more), and that is added: of callers and gateway where the request was on its way between them, of the provider from the deadline on. That the gateway stands still between grant and sending excuses nothing: it looks at the deadline before it sends. A refusal is late by what callers, gateway and provider did not stand still.
"Way" is what a call took beside its wait, 20 ms of them the provider's, and what the callers stood still. "Stood still" is in all, and the longest. Gateway and provider have sessions of their own and ask for precedence (nice -10), as machines of their own would give it; callers do not.`;
