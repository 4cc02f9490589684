import { join } from 'node:path';
import { z } from 'zod';
import { seededRandom, type EpochMilliseconds, type Milliseconds } from '@weir/kernel';
import { SimulatorDesk, type LedgerLine } from '../demo/simulator-desk.js';
import { keyDigest, startGateway } from '../gateway-service.js';
import { TEAMS } from '../pacing/traffic.js';
import { REPOSITORY, startService, type Service } from '../processes.js';
import type { Stood } from './lateness.js';
import { DELAY_SPREAD_MS, LIMIT, MAX_WAIT_MS, SHAPES, WINDOW_SECONDS, type LivePlan } from './plan.js';
import { StallLog, type Stall } from './stalls.js';
import { LiveCallers, MODEL, teamKey, type LiveCall } from './undici-callers.js';

/** What came of a plan. */
export interface LiveRun {
  readonly plan: LivePlan;
  readonly calls: readonly LiveCall[];
  /** How long was asked. */
  readonly askedMs: Milliseconds;
  /** Calls that the provider took while it was asked: what counts for utilisation. */
  readonly admitted: number;
  /** The provider's ledger when all was over. */
  readonly ledger: LedgerLine;
  /** What the gateway had learned. */
  readonly learned: string;
  readonly stood: Stood;
}

const PROVIDER_KEY = 'provider-key-of-the-live-bench';
const ADMIN_KEY = 'admin-key-of-the-live-bench';

/** Loaded into both services. */
const STALL_WATCH = join(REPOSITORY, 'apps/bench/preload/stall-watch.ts');

/** Starts a simulator and a gateway, has five teams ask for twice the quota, and ends both. */
export async function runLive(plan: LivePlan): Promise<LiveRun> {
  const simulator = await startService('simulator', { SIMULATOR_PORT: '0' }, STALL_WATCH);
  try {
    const desk = new SimulatorDesk(simulator.url);
    await desk.begin(quotaOf(plan), { firstTokenMs: 20, tokensPerSecond: 0, frames: 4 });
    const gateway = await startGateway(configuration(simulator), STALL_WATCH);
    try {
      return await ask(plan, { gateway, simulator, desk });
    } finally {
      await gateway.stop();
    }
  } finally {
    await simulator.stop();
  }
}

interface Scene {
  readonly gateway: Service;
  readonly simulator: Service;
  readonly desk: SimulatorDesk;
}

async function ask(plan: LivePlan, { gateway, simulator, desk }: Scene): Promise<LiveRun> {
  const callers = new LiveCallers(gateway.url, seededRandom(plan.seed));
  const stalls = new StallLog();
  stalls.start();
  const beganAt = Date.now();
  const from = performance.now();
  await callers.ask(plan.minutes * 60_000);
  const askedMs = performance.now() - from;
  const { admitted } = (await desk.ledger(PROVIDER_KEY)).total;
  const learned = await learnedShape(gateway);
  await callers.end();
  const { total } = await desk.ledger(PROVIDER_KEY);
  const stood = {
    callers: stalls.stop(),
    gateway: await stallsOf(gateway, beganAt),
    provider: await stallsOf(simulator, beganAt),
  };
  return { plan, calls: callers.calls, askedMs, admitted, ledger: total, learned, stood };
}

function quotaOf({ shape }: LivePlan): object {
  return {
    requestsPerMinute: LIMIT,
    windowSeconds: WINDOW_SECONDS,
    shape: SHAPES[shape],
    tokensPerMinute: null,
    concurrency: null,
  };
}

function configuration(simulator: Service): object {
  return {
    accounts: [
      {
        id: 'main',
        baseUrl: `${simulator.url}/v1`,
        apiKey: PROVIDER_KEY,
        windowSeconds: WINDOW_SECONDS,
        limits: { requestsPerMinute: LIMIT, shape: 'unknown' },
        models: { [MODEL]: {} },
      },
    ],
    teams: TEAMS.map(([id]) => ({ id, keys: [keyDigest(teamKey(id))] })),
    queue: { maxWaitMs: MAX_WAIT_MS, delaySpreadMs: DELAY_SPREAD_MS },
    server: { adminKeys: [keyDigest(ADMIN_KEY)] },
  };
}

const Stalls: z.ZodType<readonly Stall[]> = z.array(z.object({ from: z.number(), to: z.number() }));

/** Not those of its start. */
async function stallsOf(service: Service, since: EpochMilliseconds): Promise<readonly Stall[]> {
  return Stalls.parse(await service.ask()).filter(({ to }) => to > since);
}

const Status = z.object({
  limiter: z.object({
    dimensions: z.array(z.object({ unit: z.string(), shape: z.string().optional() })),
  }),
});

async function learnedShape(gateway: Service): Promise<string> {
  const response = await fetch(`${gateway.url}/admin/v1/status`, {
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
  });
  const { dimensions } = Status.parse(await response.json()).limiter;
  return dimensions.find(({ unit }) => unit === 'requests')?.shape ?? 'nothing';
}
