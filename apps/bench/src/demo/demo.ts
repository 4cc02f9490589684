import { startService } from '../processes.js';
import { quantile } from '../statistics.js';
import { table, type Row } from '../table.js';
import { verdictLine, type Verdict } from '../verdict.js';
import { semaphoreClient, twoBucketClient } from './article-clients.js';
import { disorders, succeeded, timeToFirstText, type Outcome } from './outcome.js';
import { refusals, SimulatorDesk, type KeyLedger } from './simulator-desk.js';
import type { Endpoint } from './stream-call.js';
import { startDemoGateway, weirClient } from './weir-client.js';
import { ACCOUNT, questions, REQUESTS, WINDOW_SECONDS, type Question } from './workload.js';

/** What one client did, and what the simulator says about it. */
export interface DemoRun {
  readonly client: string;
  readonly outcomes: readonly Outcome[];
  readonly ledger: KeyLedger;
  readonly totalMs: number;
}

type Client = (provider: Endpoint, questions: readonly Question[]) => Promise<Outcome[]>;

const PROVIDER_KEY = 'provider-key-of-the-demo';
const QUOTA = { requestsPerMinute: ACCOUNT.limit, windowSeconds: WINDOW_SECONDS, shape: 'sliding' };
const BEHAVIOUR = { firstTokenMs: 120, tokensPerSecond: 200 };

/** The demo of the first article, three times; prints what came of it. @returns whether Weir's part holds */
export async function demo(): Promise<boolean> {
  const simulator = await startService('simulator', { SIMULATOR_PORT: '0' });
  try {
    const runs = [
      await runClient(simulator.url, 'semaphore of 16', semaphoreClient),
      await runClient(simulator.url, "article's two buckets", twoBucketClient),
      await runWeir(simulator.url),
    ];
    console.log(`${table(HEAD, runs.map(row))}\n`);
    const verdicts = runs.slice(-1).flatMap(judge);
    for (const verdict of verdicts) console.log(verdictLine(verdict));
    return verdicts.every(({ holds }) => holds);
  } finally {
    await simulator.stop();
  }
}

/** Weir's part alone: a gateway in front of the simulator at `simulatorUrl`, and 16 client processes. */
export async function runWeir(simulatorUrl: string): Promise<DemoRun> {
  const gateway = await startDemoGateway({ url: simulatorUrl, key: PROVIDER_KEY });
  try {
    return await runClient(simulatorUrl, 'Weir', (_provider, all) => weirClient(gateway, all));
  } finally {
    await gateway.stop();
  }
}

/** One client against a simulator that has forgotten everything. */
async function runClient(simulatorUrl: string, client: string, run: Client): Promise<DemoRun> {
  const desk = new SimulatorDesk(simulatorUrl);
  await desk.begin(QUOTA, BEHAVIOUR);
  const outcomes = await run({ url: simulatorUrl, key: PROVIDER_KEY }, questions());
  const [first, last] = [
    Math.min(...outcomes.map(({ askedAt }) => askedAt)),
    Math.max(...outcomes.map(({ askedAt, result }) => result?.endedAt ?? askedAt)),
  ];
  return { client, outcomes, ledger: await desk.ledger(PROVIDER_KEY), totalMs: last - first };
}

const HEAD: Row = [
  'client',
  'success',
  '429 share',
  'calls',
  'wait p50',
  'wait p95',
  'first text p50',
  'first text p95',
  'total',
];

function row({ client, outcomes, ledger, totalMs }: DemoRun): Row {
  const good = outcomes.filter(succeeded);
  const waits = good.flatMap(({ waitedMs }) => waitedMs ?? []);
  const firsts = good.flatMap((outcome) => timeToFirstText(outcome) ?? []);
  const { received } = ledger.total;
  return [
    client,
    `${good.length} of ${outcomes.length}`,
    `${((100 * refusals(ledger.total)) / received).toFixed(1)} %`,
    String(received),
    ...[waits, firsts].flatMap((values) => [0.5, 0.95].map((share) => seconds(quantile(values, share)))),
    seconds(totalMs),
  ];
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

/** What Weir claims, judged by the simulator's ledger and by the callers' clocks. */
export function judge({ outcomes, ledger: { total } }: DemoRun): readonly Verdict[] {
  const good = outcomes.filter(succeeded).length;
  const outOfTurn = disorders(outcomes);
  return [
    {
      claim: `all ${REQUESTS} succeed, each text with the SHA-256 that the simulator tells`,
      holds: good === REQUESTS && outcomes.length === REQUESTS,
      measured: `${good}`,
    },
    {
      claim: 'the ledger shows at most one 429',
      holds: refusals(total) <= 1 && total.received === total.admitted + refusals(total),
      measured: `${refusals(total)} of ${total.received} calls, ${total.completed} completed, ${total.aborted} aborted`,
    },
    {
      claim: `at most ${ACCOUNT.limit} in any window of ${WINDOW_SECONDS} s`,
      holds: total.peakRequests <= ACCOUNT.limit,
      measured: `${total.peakRequests}`,
    },
    {
      claim: 'conversations in order',
      holds: outOfTurn.length === 0,
      measured: outOfTurn.length === 0 ? 'all' : `out of order: ${outOfTurn.join(', ')}`,
    },
  ];
}
