import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ATTRIBUTES } from '@weir/telemetry';
import { parse } from 'yaml';
import { COLLECTOR, collectorBinary } from './collector-binary.js';
import { describeWith } from './needs-program.js';

const REPOSITORY = join(__dirname, '..');
const text = (path: string): string => readFileSync(join(REPOSITORY, path), 'utf8');

interface Pipeline {
  readonly receivers: readonly string[];
  readonly processors: readonly string[];
  readonly exporters: readonly string[];
}

const config = parse(text('otel/collector.yaml')) as {
  readonly connectors: {
    readonly span_metrics: {
      readonly histogram: {
        readonly unit: string;
        readonly explicit: { readonly buckets: readonly string[] };
      };
      readonly dimensions: readonly { readonly name: string }[];
    };
  };
  readonly processors: {
    readonly memory_limiter: { readonly limit_mib: string; readonly spike_limit_mib: number };
    readonly tail_sampling: {
      readonly num_traces: string;
      readonly decision_cache: {
        readonly sampled_cache_size: number;
        readonly non_sampled_cache_size: number;
      };
    };
  };
  readonly exporters: {
    readonly prometheus: { readonly metric_expiration: string };
    readonly 'otlp_grpc/jaeger': {
      readonly sending_queue: { readonly sizer: string; readonly queue_size: number };
    };
  };
  readonly service: { readonly pipelines: Readonly<Record<string, Pipeline>> };
};
const { pipelines } = config.service;
/** The number that a variable of collector.yaml has where nobody sets it. */
const byDefault = (value: string): number => Number(/:-(\d+)\}$/.exec(value)?.[1]);

describe('collector.yaml', () => {
  it('counts spans before any is left out', () => {
    expect(pipelines['traces/in']?.exporters).toEqual(['span_metrics', 'forward']);
    expect(pipelines['traces/in']?.processors).toEqual(['memory_limiter']);
    expect(pipelines['traces/store']).toMatchObject({
      receivers: ['forward'],
      processors: ['tail_sampling', 'batch'],
    });
    expect(pipelines['metrics']?.receivers).toEqual(['otlp', 'span_metrics']);
  });

  it('limits memory first wherever something comes in', () => {
    const entries = Object.values(pipelines).filter(({ receivers }) => receivers.includes('otlp'));
    expect(entries.map(({ processors }) => processors[0])).toEqual(['memory_limiter', 'memory_limiter']);
  });

  it('labels span metrics with attributes that spans have, in seconds and long enough for a model', () => {
    const { dimensions, histogram } = config.connectors.span_metrics;
    const known: readonly string[] = Object.values(ATTRIBUTES);
    expect(dimensions.filter(({ name }) => !known.includes(name))).toEqual([]);
    expect(histogram.unit).toBe('s');
    expect(histogram.explicit.buckets.at(-1)).toBe('600s');
  });

  it('judges traces by attributes that spans have', () => {
    const known: readonly string[] = Object.values(ATTRIBUTES);
    const named = [...text('otel/collector.yaml').matchAll(/attributes\["([^"]+)"\]|key: ([\w.]+)/g)];
    expect(named.length).toBeGreaterThan(2);
    expect(
      named.map(([, first, second]) => first ?? second).filter((name) => !known.includes(name ?? '')),
    ).toEqual([]);
  });

  it('holds less than its memory limit, however long it runs: beyond it metrics are refused, too', () => {
    const spanBytes = 1_500;
    const { memory_limiter: limiter, tail_sampling: tail } = config.processors;
    const remembered = tail.decision_cache.sampled_cache_size + tail.decision_cache.non_sampled_cache_size;
    const { sizer, queue_size: queued } = config.exporters['otlp_grpc/jaeger'].sending_queue;
    expect(sizer).toBe('items');
    const held = (8 * byDefault(tail.num_traces) + queued) * spanBytes + remembered * 150;
    expect(held / 2 ** 20).toBeLessThan((byDefault(limiter.limit_mib) - limiter.spike_limit_mib) * 0.75);
    expect(tail.decision_cache.sampled_cache_size).toBeGreaterThanOrEqual(10 * byDefault(tail.num_traces));
  });

  it('forgets a gateway that is gone sooner than the alert on absence would take for granted', () => {
    expect(config.exporters.prometheus.metric_expiration).toBe('90s');
  });

  it('gives every variable a default', () => {
    expect(text('otel/collector.yaml').match(/\$\{env:\w+\}/g)).toBeNull();
  });
});

describe('builder.yaml', () => {
  it('pins every component', () => {
    const recipe = parse(text('otel/builder.yaml')) as Record<string, readonly { gomod: string }[]>;
    const modules = Object.entries(recipe).flatMap(([kind, list]) => (kind === 'dist' ? [] : list));
    expect(modules.filter(({ gomod }) => !/ v\d+\.\d+\.\d+$/.test(gomod))).toEqual([]);
  });
});

describeWith(COLLECTOR)('a real collector', () => {
  it('accepts collector.yaml', () => {
    const { status, stderr } = spawnSync(
      collectorBinary() ?? 'otelcol',
      ['validate', '--config', join(REPOSITORY, 'otel/collector.yaml')],
      { encoding: 'utf8' },
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});
