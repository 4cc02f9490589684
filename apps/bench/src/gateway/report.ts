import { availableParallelism } from 'node:os';
import { table } from '../table.js';
import { verdictTable, type Verdict } from '../verdict.js';
import { LOADS, type Load } from './loads.js';
import type { Results } from './results.js';
import { TARGETS, type TargetName } from './targets.js';

/** The circumstances of a run. */
export interface Circumstances {
  readonly rounds: number;
  /** Load averages of one minute, at the start and at the end. */
  readonly loadAverages: readonly [number, number];
  /** Share of spans that should have been exported and were dropped. */
  readonly lostSpans: number;
}

/** One table for each load. */
export function gatewayTables(results: Results): string {
  return LOADS.map((load) => `### ${load.title}\n\n${tableOf(load, results)}`).join('\n\n');
}

function tableOf({ name }: Load, results: Results): string {
  const against = (target: TargetName, other: TargetName): string =>
    target === 'direct' ? '' : results.ratio(name, target, other).toFixed(2);
  return table(
    [
      'target',
      'answers/s',
      'CPU us an answer',
      'answers per CPU-second',
      'x proxy',
      'x telemetry off',
      'x Portkey',
    ],
    TARGETS.map((target) => {
      const cpuUs = results.of(name, target, 'cpuUs');
      return [
        name === 'plain' || target !== 'Portkey' ? target : 'Portkey, with the shim',
        results.of(name, target, 'answersPerSecond').toFixed(0),
        cpuUs.toFixed(0),
        (1e6 / cpuUs).toFixed(0),
        against(target, 'Node byte proxy'),
        against(target, 'Weir, telemetry off'),
        against(target, 'Portkey'),
      ];
    }),
  );
}

/** The whole page. */
export function gatewayPage(
  results: Results,
  circumstances: Circumstances,
  verdicts: readonly Verdict[],
): string {
  const { rounds, loadAverages, lostSpans } = circumstances;
  const machine = `Node ${process.version}, ${availableParallelism()} cores, ${process.platform} ${process.arch}`;
  const [from, to] = loadAverages.map((load) => load.toFixed(1));
  return [
    '# What a gateway costs',
    `\`npm run bench -- gateway\`, medians of ${rounds} interleaved rounds. ${machine}; load average ${from} at the start and ${to} at the end, so others were at work. Only the ratios travel.`,
    METHOD,
    PEER,
    '## Verdicts',
    'Answers per CPU-second of the server process: medians of the ratios within each round.',
    verdictTable(verdicts),
    '## Tables',
    gatewayTables(results),
    `Of the spans that were to be exported ${(lostSpans * 100).toFixed(2)} % were dropped.`,
    '',
  ].join('\n\n');
}

const METHOD = `Every server runs all the time, alone on the last core but for the other servers, which idle; callers, provider and trace sink are processes of their own on the other cores. Callers ask again as soon as they are answered, over sockets that are kept. One load after the other: before its first round every server is warmed up with it, for 8 s of CPU (2 s where streams are paced); the order of the servers turns from round to round. CPU is that of all threads of the server process, by the nanosecond counters of the kernel, after a window that does not count, over two windows in a row that agree to 5 % (the last two of six where none do), of at least 0.6 s of it each (0.4 s where streams are paced), until 0.8 s after the last answer, so that exports and garbage belong to it. A server whose load has changed is compiled anew by V8, seconds later and for seconds, and costs up to five times as much meanwhile; windows like that seldom agree. For *direct* it is the provider's.

The *Node byte proxy* is \`node:http\` in and undici's \`dispatch\` out; no byte is looked at. Weir runs as built, with limits on account, model and team that never bind. *Telemetry off* has no spans, metrics or log lines; the two others have all metrics, a log line for each request (to /dev/null) and OTLP over HTTP to a sink that takes everything.`;

const PEER = `The peer is \`@portkey-ai/gateway\` 1.15.2 from npm (MIT), headless, with its provider named by headers. As installed all of its streams fail on Node 24 (\`TypeError: immutable\`), so its streams run with a shim of three lines (\`apps/bench/peers/portkey-streams.mjs\`) that copies the headers of fetch's answer; plain answers are untouched by it. It keeps no quotas, queues, spans or metrics.`;
