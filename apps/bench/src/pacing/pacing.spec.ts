import { seededRandom } from '@weir/kernel';
import { jain, maxMin } from './fairness.js';
import { BucketQuota, FixedQuota, ModelProvider, PROVIDERS, SlidingQuota } from './provider-quotas.js';
import { runPlan, type LimiterName, type RunPlan } from './run.js';
import { VirtualTime } from './virtual-time.js';

const plan = (limiter: LimiterName, provider: string, more: Partial<RunPlan> = {}): RunPlan => ({
  limiter,
  provider,
  bound: 'requests',
  rhythm: 'steady',
  load: 2,
  countsRejected: false,
  seed: 101,
  warmUpMs: 120_000,
  measuredMs: 600_000,
  ...more,
});

describe('provider quotas', () => {
  it('slide: a call counts until just before a window later', () => {
    const quota = new SlidingQuota(2, 1000);
    quota.take(1, 0);
    quota.take(1, 400);
    expect(quota.waitMs(1, 500)).toBe(500);
    expect(quota.waitMs(1, 1000)).toBe(0);
    expect(quota.waitMs(2, 1000)).toBe(400);
  });

  it('are fixed: everything is back at the boundary', () => {
    const quota = new FixedQuota(2, 1000, 300);
    quota.take(2, 1200);
    expect(quota.waitMs(1, 1250)).toBe(50);
    expect(quota.waitMs(2, 1300)).toBe(0);
  });

  it('are buckets: refilled all the time, up to their capacity', () => {
    const quota = new BucketQuota(10, 0.001);
    quota.take(10, 0);
    expect(quota.waitMs(1, 500)).toBeCloseTo(500);
    expect(quota.waitMs(10, 60_000)).toBe(0);
  });

  it('take from both or from none, and hint in whole seconds', () => {
    const limits = { requests: 2, tokens: 100, windowMs: 60_000 };
    const provider = new ModelProvider('sliding', limits, false, seededRandom(1));
    expect(provider.call(90, 0)).toEqual({ admitted: true });
    expect(provider.call(20, 100)).toEqual({ admitted: false, by: 'tokens', retryAfterMs: 60_000 });
    expect(provider.call(10, 200)).toEqual({ admitted: true });
    expect(provider.call(0, 59_500)).toEqual({ admitted: false, by: 'requests', retryAfterMs: 1000 });
  });

  it('may count refusals, which then keep a steady caller out', () => {
    const limits = { requests: 1, tokens: 100, windowMs: 60_000 };
    const provider = new ModelProvider('sliding', limits, true, seededRandom(1));
    provider.call(1, 0);
    provider.call(1, 30_000);
    expect(provider.call(1, 60_000)).toMatchObject({ admitted: false });
  });
});

describe('fair shares', () => {
  it('give who asks for little what it asks for, and the rest in equal parts', () => {
    expect(maxMin([48, 36, 18, 12, 6], 60)).toEqual([14, 14, 14, 12, 6]);
    expect(jain([1, 1, 1])).toBe(1);
    expect(jain([1, 0, 0, 0])).toBe(0.25);
  });
});

describe('virtual time', () => {
  it('runs events in order, and those of one instant as they were set', async () => {
    const time = new VirtualTime(seededRandom(1));
    const seen: string[] = [];
    for (const [at, name] of [
      [5, 'c'],
      [1, 'a'],
      [5, 'd'],
      [3, 'b'],
      [9, 'late'],
    ] as const) {
      time.at(at, () => seen.push(`${name}${time.now()}`));
    }
    time.at(2, () => seen.push('never')).cancel();
    await time.runUntil(8);
    expect(seen).toEqual(['a1', 'b3', 'c5', 'd5']);
    expect(time.now()).toBe(8);
  });

  it('fires a timer never early and at most a little late', async () => {
    const time = new VirtualTime(seededRandom(2));
    const fired: number[] = [];
    for (let delay = 0; delay < 100; delay += 1) time.after(delay, () => fired.push(time.now() - delay));
    await time.runUntil(200);
    expect(fired).toHaveLength(100);
    expect(Math.min(...fired)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...fired)).toBeLessThanOrEqual(1.5);
  });
});

describe('a run', () => {
  it('is the same every time', async () => {
    const one = await runPlan(plan('Weir, unknown', '10 per 10 s'));
    expect(await runPlan(plan('Weir, unknown', '10 per 10 s'))).toEqual(one);
    expect(await runPlan(plan('Weir, unknown', '10 per 10 s', { seed: 102 }))).not.toEqual(one);
  });

  it('shows what is known of the baselines', async () => {
    const pair = await runPlan(plan("seeds' pair", 'sliding'));
    expect(pair.throttledShare).toBeLessThan(0.01);
    expect(pair.utilisation).toBeCloseTo(0.8, 2);
    const log = await runPlan(plan('sliding log', 'sliding', { countsRejected: true }));
    expect(log.throttledShare).toBeGreaterThan(0.2);
    const bucket = await runPlan(plan('token bucket', 'sliding', { rhythm: 'bursty', load: 1 }));
    expect(bucket.throttledShare).toBeGreaterThan(0.2);
    const fixed = await runPlan(plan('fixed window', '1 per 1 s'));
    expect(fixed.utilisation).toBeLessThan(0.1);
  });

  it.each(PROVIDERS.map(([name]) => name))('paces by Weir with hardly a 429: %s', async (provider) => {
    const run = await runPlan(plan('Weir, unknown', provider));
    expect(run.throttledShare).toBeLessThanOrEqual(0.005);
    expect(run.utilisation).toBeGreaterThan(0.95);
    expect(run.jain).toBeGreaterThan(0.98);
  });

  it('lets patient callers use a declared bucket whole, bursts and all', async () => {
    const bursts = { rhythm: 'bursty', load: 1, measuredMs: 1_800_000 } as const;
    const patient = await runPlan(plan('Weir, declared, no early refusal', 'bucket(60)', bursts));
    const blind = await runPlan(plan('Weir, unknown', 'bucket(60)', bursts));
    expect(patient.throttledShare).toBeLessThanOrEqual(0.005);
    expect(patient.utilisation).toBeGreaterThan(blind.utilisation + 0.2);
  });
});
