import { seededRandom, type Milliseconds } from '@weir/kernel';
import { z } from 'zod';
import { quantile } from '../statistics.js';
import { FifoClient, fixedWindow, seedsPair, slidingLog, tokenBucket } from './baselines.js';
import type { Contender, Surroundings } from './contender.js';
import { jainOfFairShares } from './fairness.js';
import { ModelProvider, PROVIDERS, type Judgement, type ProviderLimits } from './provider-quotas.js';
import { LIGHT_TEAM, Traffic, type Job } from './traffic.js';
import { settled, VirtualTime } from './virtual-time.js';
import { WeirContender } from './weir-contender.js';

/** Who paces. */
export const LIMITERS = {
  'fixed window': (around: Surroundings) => new FifoClient(fixedWindow(around.limits), around),
  'sliding log': (around: Surroundings) => new FifoClient(slidingLog(around.limits), around),
  'token bucket': (around: Surroundings) => new FifoClient(tokenBucket(around.limits), around),
  "seeds' pair": (around: Surroundings) => new FifoClient(seedsPair(around.limits), around),
  'Weir, unknown': (around: Surroundings) =>
    new WeirContender({ knowsShape: false, refusesEarly: true }, around),
  'Weir, declared': (around: Surroundings) =>
    new WeirContender({ knowsShape: true, refusesEarly: true }, around),
  'Weir, declared, no early refusal': (around: Surroundings) =>
    new WeirContender({ knowsShape: true, refusesEarly: false }, around),
} satisfies Record<string, (around: Surroundings) => Contender>;
export type LimiterName = keyof typeof LIMITERS;
const LimiterName = z.custom<LimiterName>((value) => typeof value === 'string' && value in LIMITERS);

/** One run: who, against whom, with what demand, by which dice. */
export const RunPlan = z.object({
  limiter: LimiterName,
  provider: z.string(),
  bound: z.enum(['requests', 'tokens']),
  rhythm: z.enum(['steady', 'bursty']),
  /** Demand over quota, in the mean. */
  load: z.number(),
  countsRejected: z.boolean(),
  seed: z.int(),
  warmUpMs: z.number(),
  measuredMs: z.number(),
});
export type RunPlan = z.infer<typeof RunPlan>;

/** NaN where nothing was there to measure. */
const measure = z.number().or(z.nan());

/** What came of it, in the measured time. Shares are 0..1, times milliseconds. */
export const RunResult = z.object({
  throttledShare: measure,
  utilisation: measure,
  waitP50: measure,
  waitP99: measure,
  lightP99: measure,
  jain: measure,
  /** Of what arrived. */
  servedShare: measure,
});
export type RunResult = z.infer<typeof RunResult>;

/** 60 requests and a million tokens a minute. */
const LIMITS: ProviderLimits = { requests: 60, tokens: 1_000_000, windowMs: 60_000 };
/** Mean request: far below, or well above, what 60 of them may have. */
const MEAN_TOKENS = { requests: 11_000, tokens: 25_600 };
/** One-way delay: this, and an exponential part with that mean. */
const DELAY_MS: Milliseconds = 20;
const JITTER_MS: Milliseconds = 25;

/** Runs a plan in virtual time. The same plan gives the same result, on every machine. */
export async function runPlan(plan: RunPlan): Promise<RunResult> {
  const run = new Run(plan);
  await run.go();
  return run.result();
}

class Run {
  private readonly random;
  private readonly time;
  private readonly provider: ModelProvider;
  private readonly jobs: Job[] = [];
  private readonly measured = { calls: 0, throttled: 0, requests: 0, tokens: 0 };

  constructor(private readonly plan: RunPlan) {
    this.random = seededRandom(plan.seed);
    this.time = new VirtualTime(this.random);
    this.provider = new ModelProvider(this.shape, LIMITS, plan.countsRejected, this.random);
  }

  async go(): Promise<void> {
    const { plan, time, random } = this;
    const contender: Contender = LIMITERS[plan.limiter]({
      time,
      random,
      limits: LIMITS,
      shape: this.shape,
      send: (job, answered) => {
        this.send(job, answered);
      },
    });
    this.traffic().start(time, (job) => {
      this.jobs.push(job);
      contender.submit(job);
    });
    // Baselines wait for nothing but timers.
    const settle = plan.limiter.startsWith('Weir') ? settled : undefined;
    await time.runUntil(plan.warmUpMs + plan.measuredMs, settle);
  }

  result(): RunResult {
    const { plan, measured } = this;
    const arrived = this.jobs.filter(({ arrivedAt }) => arrivedAt >= plan.warmUpMs);
    const served = arrived.filter(({ state }) => state === 'served');
    const waits = served.map(waitOf);
    const quota = (LIMITS[plan.bound] * plan.measuredMs) / LIMITS.windowMs;
    const amount = (job: Job): number => (plan.bound === 'requests' ? 1 : job.tokens);
    return {
      throttledShare: measured.calls === 0 ? 0 : measured.throttled / measured.calls,
      utilisation: measured[plan.bound] / quota,
      waitP50: quantile(waits, 0.5),
      waitP99: quantile(waits, 0.99),
      lightP99: quantile(served.filter(({ team }) => team === LIGHT_TEAM).map(waitOf), 0.99),
      jain: jainOfFairShares(arrived, amount),
      servedShare: served.length / arrived.length,
    };
  }

  private get shape() {
    const found = PROVIDERS.find(([name]) => name === this.plan.provider);
    if (!found) throw new Error(`No provider is called ${this.plan.provider}.`);
    return found[1];
  }

  private traffic(): Traffic {
    const { bound, load, rhythm, seed } = this.plan;
    const meanTokens = MEAN_TOKENS[bound];
    const quota = bound === 'requests' ? LIMITS.requests : LIMITS.tokens / meanTokens;
    // Its own dice: what is asked must not depend on what the limiter rolls.
    return new Traffic({ requestsPerMinute: load * quota, rhythm, meanTokens }, seed + 0x5eed);
  }

  private send(job: Job, answered: (judgement: Judgement) => void): void {
    const { time } = this;
    const leftAt = time.now();
    time.at(leftAt + this.delay(), () => {
      const judgement = this.provider.call(job.tokens, time.now());
      this.count(job, judgement);
      if (judgement.admitted) Object.assign(job, { leftAt, state: 'served' });
      time.at(time.now() + this.delay(), () => {
        answered(judgement);
      });
    });
  }

  private count(job: Job, { admitted }: Judgement): void {
    if (this.time.now() < this.plan.warmUpMs) return;
    this.measured.calls += 1;
    if (!admitted) this.measured.throttled += 1;
    else {
      this.measured.requests += 1;
      this.measured.tokens += job.tokens;
    }
  }

  private delay(): Milliseconds {
    return DELAY_MS - JITTER_MS * Math.log(1 - this.random.next());
  }
}

function waitOf({ leftAt, arrivedAt }: Job): Milliseconds {
  return leftAt - arrivedAt;
}
