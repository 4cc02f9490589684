import type { Attributes } from '@opentelemetry/api';
import {
  DataPointType,
  type HistogramMetricData,
  type MetricData,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import { prometheusLabel, prometheusName } from './metric-names.js';

/** Content type of {@link prometheusText}. */
export const PROMETHEUS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * Metrics in Prometheus' text format 0.0.4, with exactly the names that the collector's Prometheus exporter gives them
 * (the SDK's own exporter leaves unit suffixes out). Exponential histograms, which nothing here makes, are left out.
 */
export function prometheusText({ scopeMetrics }: ResourceMetrics): string {
  const lines: string[] = [];
  for (const { metrics } of scopeMetrics) for (const metric of metrics) writeMetric(metric, lines);
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

function writeMetric(metric: MetricData, lines: string[]): void {
  if (metric.dataPoints.length === 0) return;
  const type = typeOf(metric);
  if (type === undefined) return;
  const name = prometheusName({ ...metric.descriptor, type });
  if (metric.descriptor.description !== '')
    lines.push(`# HELP ${name} ${helpText(metric.descriptor.description)}`);
  lines.push(`# TYPE ${name} ${type}`);
  if (metric.dataPointType === DataPointType.HISTOGRAM) writeHistogram(name, metric, lines);
  else if (metric.dataPointType !== DataPointType.EXPONENTIAL_HISTOGRAM)
    for (const { attributes, value } of metric.dataPoints)
      lines.push(`${name}${labelled(attributes)} ${numeral(value)}`);
}

function writeHistogram(name: string, metric: HistogramMetricData, lines: string[]): void {
  for (const { attributes, value } of metric.dataPoints) {
    const { boundaries, counts } = value.buckets;
    let below = 0;
    counts.forEach((count, index) => {
      below += count;
      const le = numeral(boundaries[index] ?? Infinity);
      lines.push(`${name}_bucket${labelled(attributes, `le="${le}"`)} ${numeral(below)}`);
    });
    lines.push(`${name}_sum${labelled(attributes)} ${numeral(value.sum ?? 0)}`);
    lines.push(`${name}_count${labelled(attributes)} ${numeral(value.count)}`);
  }
}

/** A sum that may shrink is a gauge to Prometheus. */
function typeOf(metric: MetricData): 'counter' | 'gauge' | 'histogram' | undefined {
  switch (metric.dataPointType) {
    case DataPointType.SUM:
      return metric.isMonotonic ? 'counter' : 'gauge';
    case DataPointType.GAUGE:
      return 'gauge';
    case DataPointType.HISTOGRAM:
      return 'histogram';
    case DataPointType.EXPONENTIAL_HISTOGRAM:
      return undefined;
  }
}

function labelled(attributes: Attributes, extra?: string): string {
  const labels = Object.entries(attributes).map(
    ([name, value]) => `${prometheusLabel(name)}="${escaped(String(value))}"`,
  );
  if (extra !== undefined) labels.push(extra);
  return labels.length === 0 ? '' : `{${labels.join(',')}}`;
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function helpText(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function numeral(value: number): string {
  if (value === Infinity) return '+Inf';
  return value === -Infinity ? '-Inf' : String(value);
}
