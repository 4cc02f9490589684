import type { RowSpec } from '../panel-spec.js';

/** Row 7: whether the rows above can be believed. These metrics are not the gateway's own, so no variable narrows them. */
export const telemetryHealthRow: RowSpec = {
  id: 700,
  title: 'Telemetry health',
  collapsed: true,
  panels: [
    {
      id: 701,
      kind: 'lines',
      title: 'Spans counted for each exported',
      description:
        'Spans that the collector counted for each that gateways say they delivered. 1 means that nothing is lost between them.',
      unit: 'percentunit',
      width: 8,
      queries: [
        {
          expr:
            'sum(rate(traces_span_metrics_calls_total[5m]))' +
            ' / (sum(rate(otel_sdk_processor_span_processed_total{error_type=""}[5m])) > 0)',
          legend: 'counted',
        },
      ],
    },
    {
      id: 702,
      kind: 'lines',
      title: 'Exported share of calls',
      description:
        'Calls that span_metrics counted for each that the gateways counted: the export ratio, or less where spans are lost. Exact metrics do not hang on it.',
      unit: 'percentunit',
      width: 8,
      queries: [
        {
          expr:
            'sum(rate(traces_span_metrics_calls_total{weir_attempt_outcome!=""}[5m]))' +
            ' / ((sum(rate(weir_upstream_attempts_total[5m])) + (sum(rate(weir_upstream_unsent_total[5m])) or vector(0))) > 0)',
          legend: 'exported',
        },
      ],
    },
    {
      id: 703,
      kind: 'stacked',
      title: 'Spans delivered and lost',
      description: 'By gateways, by error. queue_full means that the collector is too slow or gone.',
      unit: 'cps',
      width: 8,
      queries: [
        {
          expr: 'sum by (error_type) (rate(otel_sdk_processor_span_processed_total[$__rate_interval]))',
          legend: '{{error_type}}',
        },
      ],
    },
    {
      id: 704,
      kind: 'lines',
      title: 'Spans that wait for export',
      description: 'Against the size of the queue, which drops what is beyond it.',
      unit: 'short',
      width: 8,
      queries: [
        { expr: 'max(otel_sdk_processor_span_queue_size)', legend: 'waiting' },
        { expr: 'max(otel_sdk_processor_span_queue_capacity)', legend: 'capacity' },
      ],
    },
    {
      id: 705,
      kind: 'lines',
      title: 'Series beyond the limit',
      description:
        'Metrics with more label values than are kept apart. Above 0 the labels are wrong somewhere.',
      unit: 'short',
      width: 8,
      queries: [
        {
          expr: 'count(count by (__name__) ({otel_metric_overflow="true"})) or vector(0)',
          legend: 'metrics',
        },
      ],
    },
    {
      id: 706,
      kind: 'states',
      title: 'Scraped',
      description: 'Whether Prometheus reaches the collector and itself.',
      unit: 'none',
      width: 8,
      queries: [{ expr: 'min by (job, instance) (up)', legend: '{{job}} {{instance}}' }],
      states: { 0: { text: 'down', color: 'red' }, 1: { text: 'up', color: 'green' } },
    },
    {
      id: 707,
      kind: 'lines',
      title: 'Event loop busy',
      description:
        'Share of time in which the busiest gateway does something. Near 1 it is out of CPU: add a replica.',
      unit: 'percentunit',
      width: 12,
      queries: [{ expr: 'max(nodejs_eventloop_utilization_ratio)', legend: 'busiest' }],
      limit: 0.9,
    },
    {
      id: 708,
      kind: 'lines',
      title: 'Event loop late, 99 of 100',
      description:
        'Between two ticks of 10 ms, of the latest gateway. Waits and times to the first frame are wrong by what is above that.',
      unit: 's',
      width: 12,
      queries: [{ expr: 'max(nodejs_eventloop_delay_p99_seconds)', legend: 'latest' }],
    },
  ],
};
