import { ATTRIBUTES as A, METRICS as M } from '@weir/telemetry';
import type { RowSpec } from '../panel-spec.js';
import { dimension, legend, rateBy, series, sumBy } from '../selectors.js';

const THROTTLED = { where: { [A.attemptOutcome]: '="throttled"' } } as const;
const ASKED_RIGHT = { where: { [A.outcome]: '!="rejected"' } } as const;
const REFUSED = { where: { [A.outcome]: '="upstream_throttled"' } } as const;
/** The share of 429s is defined over five minutes, here as in the alert. */
const OVER = '[5m]';
const LIMIT = 0.05;

/** The panel that the Grafana alert of the same rule points at. */
export const THROTTLED_SHARE_PANEL = 101;

/** Row 1: a look at it answers its title. */
export const throttledRow: RowSpec = {
  id: 100,
  title: 'Are we throttled?',
  panels: [
    {
      id: THROTTLED_SHARE_PANEL,
      kind: 'stat',
      title: 'Calls answered with 429',
      description: 'Share of all calls to providers of the last 5 minutes. Above 5 % somebody is paged.',
      unit: 'percentunit',
      width: 4,
      limit: LIMIT,
      traces: { 'weir.attempt.outcome': 'throttled' },
      queries: [
        {
          expr:
            `(sum(rate(${series(M.attempts, THROTTLED)}${OVER})) or vector(0))` +
            ` / (sum(rate(${series(M.attempts)}${OVER})) > 0)`,
          legend: '429',
        },
      ],
    },
    {
      id: 102,
      kind: 'stat',
      title: 'Callers who saw a 429',
      description:
        'Share of requests that ended with a 429 of a provider although Weir waited and tried again. Above 1 % somebody is paged.',
      unit: 'percentunit',
      width: 4,
      limit: 0.01,
      traces: { 'weir.outcome': 'upstream_throttled' },
      queries: [
        {
          expr:
            `(sum(rate(${series(M.requests, REFUSED)}${OVER})) or vector(0))` +
            ` / (sum(rate(${series(M.requests, ASKED_RIGHT)}${OVER})) > 0)`,
          legend: 'callers',
        },
      ],
    },
    {
      id: 103,
      kind: 'lines',
      title: 'Share of 429s by model',
      description: 'As the first number, for each model apart. The dashed line is the alert.',
      unit: 'percentunit',
      width: 8,
      limit: LIMIT,
      traces: { 'weir.attempt.outcome': 'throttled' },
      queries: [
        {
          expr:
            `(${sumBy([A.requestModel])} (rate(${series(M.attempts, THROTTLED)}${OVER}))` +
            ` or 0 * ${sumBy([A.requestModel])} (rate(${series(M.attempts)}${OVER})))` +
            ` / (${sumBy([A.requestModel])} (rate(${series(M.attempts)}${OVER})) > 0)`,
          legend: legend(A.requestModel),
        },
      ],
    },
    {
      id: 104,
      kind: 'stacked',
      title: '429s by what they were about',
      description:
        'requests, tokens and concurrency are limits of a minute; daily and billing are never tried again; overloaded is the provider being full.',
      unit: 'reqps',
      width: 8,
      traces: { 'weir.attempt.outcome': 'throttled' },
      queries: [{ expr: rateBy([A.throttleKind], M.throttled), legend: legend(A.throttleKind) }],
    },
    {
      id: 105,
      kind: 'states',
      title: 'Alerts',
      description: 'Every alert of Weir that is firing. Its page in docs/runbooks says what to do.',
      unit: 'none',
      width: 8,
      queries: [
        {
          expr: 'max by (alertname) (ALERTS{alertname=~"Weir.*",alertstate="firing"})',
          legend: '{{alertname}}',
        },
      ],
      states: { 1: { text: 'firing', color: 'red' } },
    },
    {
      id: 106,
      kind: 'stacked',
      title: 'Requests that did not get an answer',
      description:
        'What callers saw: client_throttled and queue_timeout are refusals of Weir, upstream_ those of a provider, cancelled callers who left.',
      unit: 'reqps',
      width: 8,
      traces: { error: 'true' },
      queries: [
        {
          expr: rateBy([A.outcome], M.requests, { where: { [A.outcome]: '!="ok"' } }),
          legend: legend(A.outcome),
        },
      ],
    },
    {
      id: 107,
      kind: 'lines',
      title: 'Paused dimensions',
      description: 'How long a limit still grants nothing because a provider asked to be left alone.',
      unit: 's',
      width: 8,
      queries: [
        {
          expr: `max by (weir_account, gen_ai_request_model, weir_bucket) (${dimension(M.bucketPaused)})`,
          legend: legend(A.account, A.requestModel, A.bucket),
        },
      ],
    },
  ],
};
