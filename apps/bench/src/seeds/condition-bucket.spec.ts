import { ConditionBucket } from './condition-bucket.js';

describe("the article's bucket, ported", () => {
  it('lets its capacity through at once, and then one at a time', async () => {
    const bucket = new ConditionBucket(2, 50);
    const start = performance.now();
    await Promise.all([bucket.acquire(), bucket.acquire()]);
    const burst = performance.now() - start;
    await Promise.all([bucket.acquire(), bucket.acquire()]);
    expect(performance.now() - start).toBeGreaterThanOrEqual(2 * 20 - 2);
    expect(burst).toBeLessThan(performance.now() - start);
  });

  it('gives up after the timeout', async () => {
    const bucket = new ConditionBucket(1, 0.01);
    await bucket.acquire();
    expect(await bucket.acquire(1, 20)).toBe(false);
  });

  it('wakes a waiter when something is given back', async () => {
    const bucket = new ConditionBucket(1, 0.01);
    await bucket.acquire();
    const waiting = bucket.acquire(1, 10_000);
    bucket.release();
    expect(await waiting).toBe(true);
  });
});
