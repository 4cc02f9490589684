import type { Verdict } from '../verdict.js';
import type { ContenderName } from './contenders.js';
import type { Measurements } from './measurements.js';

const WEIR: ContenderName = 'Weir, 6 dimensions';
const PEERS: readonly ContenderName[] = [
  'bottleneck',
  'limiter TokenBucket',
  'rate-limiter-flexible',
  'p-queue',
  'p-throttle',
];
const DEPTH = 10_000;

/** What is claimed of the limiter's cost, line by line. */
export function judgeLimiter(all: Measurements): readonly Verdict[] {
  return [acquire(all), againstPort(all), againstPeers(all), memory(all), growth(all)];
}

function acquire(all: Measurements): Verdict {
  const cost = (name: ContenderName): number => all.of(name, 'free', 1_000, 'acquireNs');
  const [ours, signalled, theirs] = [
    cost(WEIR),
    cost('Weir, an AbortSignal each'),
    cost('limiter TokenBucket'),
  ];
  return {
    claim: "an uncontended acquire over 6 dimensions costs at most 2x limiter's TokenBucket for one",
    holds: ours <= 2 * theirs,
    measured: `${(ours / theirs).toFixed(2)}x (${ours.toFixed(0)} ns against ${theirs.toFixed(0)} ns; with an AbortSignal each ${signalled.toFixed(0)} ns)`,
  };
}

function againstPort(all: Measurements): Verdict {
  const [ours, theirs] = [cpu(all, WEIR), cpu(all, "seeds' bucket")];
  return {
    claim: "with 10,000 waiters a grant costs at most a tenth of the plain port's CPU",
    holds: ours <= theirs / 10,
    measured: `${ours.toFixed(1)} us against ${theirs.toFixed(1)} us`,
  };
}

/** Peers that do the same: keep order, and pace. */
function againstPeers(all: Measurements): Verdict {
  const able = PEERS.filter((name) => keepsOrder(all, name) && paces(all, name));
  const ours = cpu(all, WEIR);
  return {
    claim: 'and less than any peer that keeps order and paces with a p99 error under 10 ms',
    holds: able.length > 0 && able.every((name) => ours < cpu(all, name)),
    measured:
      able.length === 0
        ? 'no peer paced that well in this run, so nothing is shown'
        : able.map((name) => `${name} ${cpu(all, name).toFixed(1)} us`).join(', '),
  };
}

function cpu(all: Measurements, name: ContenderName, waiters = DEPTH): number {
  return all.of(name, 'drain', waiters, 'cpuUs');
}

function keepsOrder(all: Measurements, name: ContenderName): boolean {
  const swaps = [
    all.of(name, 'drain', DEPTH, 'swaps'),
    all.of(name, 'drain', 1_000, 'swaps'),
    all.of(name, 'pace', 300, 'swaps'),
  ];
  return swaps.every((count) => count === 0);
}

function paces(all: Measurements, name: ContenderName): boolean {
  return all.least(name, 'pace', 300, 'p99Ms') < 10;
}

function memory(all: Measurements): Verdict {
  const bytes = [1_000, DEPTH, 100_000].map((waiters) => all.of(WEIR, 'memory', waiters, 'bytes'));
  return {
    claim: 'a waiter takes under 600 bytes',
    holds: bytes.every((each) => each < 600),
    measured: `${bytes.map((each) => each.toFixed(0)).join(', ')} bytes at 1,000, 10,000 and 100,000 (with an AbortSignal each ${all.of('Weir, an AbortSignal each', 'memory', DEPTH, 'bytes').toFixed(0)})`,
  };
}

function growth(all: Measurements): Verdict {
  const [few, many] = [cpu(all, WEIR, 1_000), cpu(all, WEIR, 100_000)];
  return {
    claim: 'from 1,000 to 100,000 waiters the cost of a grant grows by less than 2x',
    holds: many < 2 * few,
    measured: `${(many / few).toFixed(2)}x (${few.toFixed(1)} us to ${many.toFixed(1)} us)`,
  };
}
