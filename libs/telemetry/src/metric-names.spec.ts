import { METRICS, prometheusLabel, prometheusName } from './metric-names.js';

describe('names', () => {
  it.each([
    ['weir.requests', 'counter', '{request}', 'weir_requests_total'],
    ['weir.queue.wait.duration', 'histogram', 's', 'weir_queue_wait_duration_seconds'],
    ['weir.cost.usd', 'counter', '{USD}', 'weir_cost_usd_total'],
    ['weir.bucket.level', 'gauge', '', 'weir_bucket_level'],
    ['weir.share', 'gauge', '1', 'weir_share_ratio'],
    ['some.bytes', 'counter', 'By', 'some_bytes_total'],
    ['some.total', 'counter', '', 'some_total'],
  ] as const)('%s (%s, %s) is %s', (name, type, unit, expected) => {
    expect(prometheusName({ name, type, unit })).toBe(expected);
  });

  it('are unique, described, and addressed by as many labels as they have', () => {
    const all = Object.values(METRICS);
    expect(new Set(all.map((metric) => prometheusName(metric))).size).toBe(all.length);
    for (const metric of all) {
      expect(metric.description).not.toBe('');
      expect(new Set(metric.labels.map(prometheusLabel)).size).toBe(metric.labels.length);
      expect('buckets' in metric).toBe(metric.type === 'histogram');
    }
  });
});
