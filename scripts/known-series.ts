import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { METRICS, prometheusLabel, prometheusName, type MetricDescription } from '@weir/telemetry';
import { parse } from 'yaml';

const REPOSITORY = join(__dirname, '..');

/** A file of rules, as Prometheus reads it. */
export interface RuleFile {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
}

/** One recording rule or alert. */
export interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** @param name a file in otel/rules */
export function rulesOf(name: 'recording.yml' | 'alerts.yml'): readonly Rule[] {
  const file = parse(readFileSync(join(REPOSITORY, 'otel/rules', name), 'utf8')) as RuleFile;
  return file.groups.flatMap(({ rules }) => rules);
}

/** Labels that Prometheus and the collector add to everything. */
const EVERYWHERE = ['job', 'instance', 'otel_metric_overflow', '__name__'];
const OF_SPANS = [
  'service_name',
  'span_name',
  'span_kind',
  'status_code',
  'gen_ai_provider_name',
  'gen_ai_request_model',
  'weir_attempt_outcome',
];

/** Series that are not the gateway's own, as a real collector and Prometheus have them. */
const FOREIGN: Readonly<Record<string, readonly string[]>> = {
  up: [],
  ALERTS: ['alertname', 'alertstate'],
  traces_span_metrics_calls_total: OF_SPANS,
  traces_span_metrics_duration_seconds_bucket: [...OF_SPANS, 'le'],
  otel_sdk_processor_span_processed_total: ['error_type'],
  otel_sdk_processor_span_queue_size: [],
  otel_sdk_processor_span_queue_capacity: [],
  otelcol_receiver_refused_spans_total: [],
  otelcol_receiver_failed_spans_total: [],
  otelcol_exporter_enqueue_failed_spans_total: [],
  otelcol_exporter_send_failed_spans_total: [],
};

/** @returns every series that a rule or panel may name, with its labels */
export function knownSeries(): ReadonlyMap<string, ReadonlySet<string>> {
  const own = Object.values<MetricDescription>(METRICS).flatMap(namesOf);
  const all = [...own, ...recorded(), ...Object.entries(FOREIGN)];
  return new Map(all.map(([name, labels]) => [name, new Set([...labels, ...EVERYWHERE])]));
}

/** @returns the counters among them, whose value alone says nothing */
export function counters(): ReadonlySet<string> {
  const own = Object.values<MetricDescription>(METRICS).filter(({ type }) => type !== 'gauge');
  const foreign = Object.keys(FOREIGN).filter((name) => /_(total|bucket)$/.test(name));
  return new Set([...own.flatMap(namesOf).map(([name]) => name), ...foreign]);
}

function namesOf(metric: MetricDescription): (readonly [string, readonly string[]])[] {
  const name = prometheusName(metric);
  const labels = metric.labels.map(prometheusLabel);
  if (metric.type !== 'histogram') return [[name, labels]];
  return [
    [`${name}_bucket`, [...labels, 'le']],
    [`${name}_sum`, labels],
    [`${name}_count`, labels],
  ];
}

/** What a recording rule keeps are the labels it groups by, and those it adds. */
function recorded(): (readonly [string, readonly string[]])[] {
  return rulesOf('recording.yml').flatMap(({ record, expr, labels = {} }) => {
    if (record === undefined) return [];
    const level = LEVELS[record.split(':')[0] ?? ''] ?? [];
    const grouped = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/));
    return [[record, [...level, ...grouped, ...Object.keys(labels)]] as const];
  });
}

/** The first word of a recorded name says which labels are left. */
const LEVELS: Readonly<Record<string, readonly string[]>> = {
  provider_model: ['gen_ai_provider_name', 'gen_ai_request_model'],
  priority: ['weir_priority'],
};
