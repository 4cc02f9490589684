import type { Attributes, HrTime } from '@opentelemetry/api';
import { ValueType } from '@opentelemetry/api';
import type { InstrumentationScope } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type CollectionResult,
  DataPointType,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import type { Clock } from '@weir/kernel';
import { toHrTime } from './hr-time.js';
import { CounterFamily, GaugeFamily, HistogramFamily, type Reading } from './metric-families.js';
import type { MetricDescription } from './metric-names.js';

/** Series that one metric may have before the rest is lumped together as `otel_metric_overflow="true"`. */
const SERIES_LIMIT = 20_000;

/**
 * The counters and histograms of this process. The SDK's readers collect from it as from any producer;
 * its own instruments cost ten times as much a record, because they sort and serialise the attributes each time.
 */
export class MetricRegistry implements MetricProducer {
  private readonly families: (CounterFamily | HistogramFamily | GaugeFamily)[] = [];
  private readonly startedAt: HrTime;
  private settle: () => void = () => undefined;

  constructor(
    private readonly clock: Clock,
    private readonly resource: Resource,
    private readonly scope: InstrumentationScope,
    private readonly seriesLimit = SERIES_LIMIT,
  ) {
    this.startedAt = toHrTime(clock.epochNow());
  }

  counter(description: MetricDescription): CounterFamily {
    return this.added(new CounterFamily(description, this.seriesLimit));
  }

  histogram(description: MetricDescription): HistogramFamily {
    return this.added(new HistogramFamily(description, this.seriesLimit));
  }

  /** @param read called at each collection */
  gauge(description: MetricDescription, read: () => Iterable<Reading<number>>): GaugeFamily {
    return this.added(new GaugeFamily(description, read));
  }

  /** @param settle called before each collection, to count what has happened and is not counted yet */
  beforeCollecting(settle: () => void): void {
    this.settle = settle;
  }

  async collect(): Promise<CollectionResult> {
    this.settle();
    const endTime = toHrTime(this.clock.epochNow());
    const errors: unknown[] = [];
    const metrics: MetricData[] = [];
    for (const family of this.families) {
      try {
        metrics.push(this.read(family, endTime));
      } catch (error) {
        errors.push(error);
      }
    }
    return {
      resourceMetrics: { resource: this.resource, scopeMetrics: [{ scope: this.scope, metrics }] },
      errors,
    };
  }

  private added<Kind extends CounterFamily | HistogramFamily | GaugeFamily>(family: Kind): Kind {
    this.families.push(family);
    return family;
  }

  private read(family: CounterFamily | HistogramFamily | GaugeFamily, endTime: HrTime): MetricData {
    const { name, unit, description, labels } = family.description;
    const frame = {
      descriptor: { name, unit, description, valueType: ValueType.DOUBLE },
      aggregationTemporality: AggregationTemporality.CUMULATIVE,
    };
    const point = <Value>(reading: Reading<unknown>, value: Value): DataPointOf<Value> => ({
      startTime: this.startedAt,
      endTime,
      attributes: attributesOf(labels, reading.labels),
      value,
    });
    if (family instanceof HistogramFamily) {
      const boundaries = [...family.bounds];
      const dataPoints = family.readings().map((reading) => {
        const { counts, sum, count } = reading.value;
        return point(reading, { buckets: { boundaries, counts: [...counts] }, sum, count });
      });
      return { ...frame, dataPointType: DataPointType.HISTOGRAM, dataPoints };
    }
    if (family instanceof GaugeFamily) {
      const dataPoints = family.readings().map((reading) => point(reading, reading.value));
      return { ...frame, dataPointType: DataPointType.GAUGE, dataPoints };
    }
    const dataPoints = family.readings().map((reading) => point(reading, reading.value.total));
    return { ...frame, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints };
  }
}

interface DataPointOf<Value> {
  readonly startTime: HrTime;
  readonly endTime: HrTime;
  readonly attributes: Attributes;
  readonly value: Value;
}

/** Empty values are left out, as Prometheus does not tell them from absent ones. */
function attributesOf(names: readonly string[], values: readonly string[] | undefined): Attributes {
  if (values === undefined) return { 'otel.metric.overflow': true };
  const attributes: Attributes = {};
  names.forEach((name, index) => {
    const value = values[index];
    if (value !== undefined && value !== '') attributes[name] = value;
  });
  return attributes;
}
