import { ATTRIBUTES as A, METRICS as M, type MetricDescription } from '@weir/telemetry';
import type { PanelSpec, QuerySpec, RowSpec } from '../panel-spec.js';
import { legend, quantileBy, rateBy, series } from '../selectors.js';

const percentiles = (metric: MetricDescription): QuerySpec[] =>
  [0.5, 0.95, 0.99].map((quantile) => ({
    expr: quantileBy(quantile, [A.requestModel], metric),
    legend: `p${quantile * 100} ${legend(A.requestModel)}`,
  }));

const firstChunk = (
  spec: Pick<PanelSpec, 'id' | 'title' | 'description'>,
  metric: MetricDescription,
): PanelSpec => ({
  ...spec,
  kind: 'lines',
  unit: 's',
  width: 8,
  traces: { 'gen_ai.request.stream': 'true' },
  queries: percentiles(metric),
});

/** Row 4: rate, errors, duration; of requests, and of calls. */
export const requestsRow: RowSpec = {
  id: 400,
  title: 'Requests and time to first token',
  panels: [
    {
      id: 401,
      kind: 'stacked',
      title: 'Requests by outcome',
      description: 'Requests of callers, counted when they end.',
      unit: 'reqps',
      width: 8,
      queries: [{ expr: rateBy([A.outcome], M.requests), legend: legend(A.outcome) }],
    },
    {
      id: 402,
      kind: 'stacked',
      title: 'Calls to providers by outcome',
      description:
        'A request has one call or more. Throttled is an effective status of 429, also inside a 200.',
      unit: 'reqps',
      width: 8,
      traces: { error: 'true' },
      queries: [{ expr: rateBy([A.attemptOutcome], M.attempts), legend: legend(A.attemptOutcome) }],
    },
    {
      id: 403,
      kind: 'lines',
      title: 'Calls for one request',
      description: '1 is best. What is above it was spent on tries that failed.',
      unit: 'none',
      width: 8,
      traces: { 'weir.attempt.number': '2' },
      queries: [
        {
          expr:
            `${rateBy([], M.attempts)} / (` +
            `${rateBy([], M.requests, { where: { [A.outcome]: '!="rejected"' } })} > 0)`,
          legend: 'calls',
        },
      ],
    },
    firstChunk(
      {
        id: 404,
        title: 'Time to first token, of the provider',
        description: 'From the start of a streaming call to its first visible frame.',
      },
      M.providerFirstChunk,
    ),
    firstChunk(
      {
        id: 405,
        title: 'Time to first token, of the caller',
        description: 'From the arrival of a request to its first frame: waits and retries are in it.',
      },
      M.clientFirstChunk,
    ),
    {
      id: 406,
      kind: 'lines',
      title: 'Duration of a call, 95 of 100',
      description: 'From its start to its last byte. The diamonds are calls: a click leads to the trace.',
      unit: 's',
      width: 8,
      traces: { 'gen_ai.operation.name': 'chat' },
      queries: [
        {
          expr:
            'histogram_quantile(0.95, sum by (le, gen_ai_request_model) (rate(traces_span_metrics_duration_seconds_bucket{' +
            'weir_attempt_outcome!="",gen_ai_provider_name=~"$provider",gen_ai_request_model=~"$model"}[$__rate_interval])))',
          legend: legend(A.requestModel),
          exemplar: true,
        },
      ],
    },
    {
      id: 407,
      kind: 'stacked',
      title: 'Failed calls by error',
      description: 'Status of the provider, or what happened where there was none.',
      unit: 'reqps',
      width: 12,
      traces: { error: 'true' },
      queries: [
        {
          expr: `sum by (error_type) (rate(${series(M.inferenceDuration, { where: { [A.errorType]: '!=""' }, part: 'count' })}[$__rate_interval]))`,
          legend: legend(A.errorType),
        },
      ],
    },
    {
      id: 408,
      kind: 'stacked',
      title: 'Answers by HTTP status',
      description: 'Everything that the server answered, requests that were refused at the door among it.',
      unit: 'reqps',
      width: 12,
      queries: [
        {
          expr: rateBy([A.httpRoute, A.httpStatus], M.serverDuration, { part: 'count' }),
          legend: legend(A.httpRoute, A.httpStatus),
        },
      ],
    },
  ],
};
