import { FakeClock } from '@weir/testing';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { EventLoopMetrics, type LoopProbe } from './event-loop.js';
import { MetricRegistry } from './metric-registry.js';

async function read(registry: MetricRegistry): Promise<Record<string, unknown>> {
  const { resourceMetrics, errors } = await registry.collect();
  expect(errors).toEqual([]);
  const metrics = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
  return Object.fromEntries(
    metrics.map(({ descriptor, dataPoints }) => [descriptor.name, dataPoints.map(({ value }) => value)]),
  );
}

describe('EventLoopMetrics', () => {
  const clock = new FakeClock();
  const registry = (): MetricRegistry =>
    new MetricRegistry(clock, resourceFromAttributes({}), { name: 'weir' });

  it('show the last ten seconds or more, to every reader', async () => {
    let takes = 0;
    const probe: LoopProbe = {
      take: () => ({ utilization: (takes += 1) / 10, delayP99: takes / 100 }),
      stop: () => undefined,
    };
    const metrics = registry();
    new EventLoopMetrics(metrics, clock, probe);
    const first = { 'nodejs.eventloop.utilization': [0.1], 'nodejs.eventloop.delay.p99': [0.01] };
    expect(await read(metrics)).toEqual(first);
    await clock.advance(9_999);
    expect(await read(metrics)).toEqual(first);
    await clock.advance(1);
    expect(await read(metrics)).toEqual({
      'nodejs.eventloop.utilization': [0.2],
      'nodejs.eventloop.delay.p99': [0.02],
    });
  });

  it('read the process itself', async () => {
    const metrics = registry();
    const loop = new EventLoopMetrics(metrics, clock);
    // Something for the loop to have done.
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    const { 'nodejs.eventloop.utilization': busy, 'nodejs.eventloop.delay.p99': late } = await read(metrics);
    loop.stop();
    expect(busy).toEqual([expect.any(Number)]);
    const [share = NaN] = busy as number[];
    expect(share).toBeGreaterThan(0);
    expect(share).toBeLessThanOrEqual(1);
    expect(late).toEqual([expect.any(Number)]);
  });
});
