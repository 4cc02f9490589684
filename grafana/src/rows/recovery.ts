import { ATTRIBUTES as A, METRICS as M, type BREAKER_STATES } from '@weir/telemetry';
import type { RowSpec } from '../panel-spec.js';
import { dimension, legend, quantileBy, rateBy, series } from '../selectors.js';

/** 1 for each model of an account whose breaker stands so on any gateway. */
const breakers = (state: (typeof BREAKER_STATES)[number]): string =>
  'max by (weir_account, gen_ai_request_model)' +
  ` (${series(M.breakerState, { where: { [A.breakerState]: `="${state}"` } })})`;

/** Row 5: what Weir did about failures, and what it gave back. */
export const recoveryRow: RowSpec = {
  id: 500,
  title: 'Recovery',
  panels: [
    {
      id: 501,
      kind: 'stacked',
      title: 'Retries by reason',
      description: 'Decisions after a failed call, by what had happened.',
      unit: 'reqps',
      width: 8,
      traces: { 'weir.retry.result': 'scheduled' },
      queries: [
        {
          expr: rateBy([A.retryReason], M.retries, { where: { [A.retryResult]: '!="recovered"' } }),
          legend: legend(A.retryReason),
        },
      ],
    },
    {
      id: 502,
      kind: 'lines',
      title: 'How retries ended',
      description:
        'scheduled is tried again, recovered came good, exhausted ran out of tries, budget_denied was not allowed another.',
      unit: 'reqps',
      width: 8,
      traces: { 'weir.retry.result': 'exhausted' },
      queries: [{ expr: rateBy([A.retryResult], M.retries), legend: legend(A.retryResult) }],
    },
    {
      id: 503,
      kind: 'lines',
      title: 'Backoff before a retry, 95 of 100',
      description: '0 where a paused limit does the waiting.',
      unit: 's',
      width: 8,
      traces: { 'weir.retry.result': 'scheduled' },
      queries: [{ expr: quantileBy(0.95, [A.requestModel], M.backoff), legend: legend(A.requestModel) }],
    },
    {
      id: 504,
      kind: 'stacked',
      title: 'Tokens given back, a minute',
      description: 'overestimate is an answer shorter than reserved; the others are calls that used nothing.',
      unit: 'short',
      width: 8,
      traces: { 'weir.refund.reason': 'throttled' },
      queries: [
        { expr: `60 * ${rateBy([A.refundReason], M.tokensRefunded)}`, legend: legend(A.refundReason) },
      ],
    },
    {
      id: 505,
      kind: 'lines',
      title: 'Tokens reserved, given back and overdrawn, a minute',
      description: 'A reservation that is much larger than what is used keeps others waiting for nothing.',
      unit: 'short',
      width: 8,
      queries: [
        { expr: `60 * ${rateBy([], M.tokensReserved)}`, legend: 'reserved' },
        { expr: `60 * ${rateBy([], M.tokensRefunded)}`, legend: 'given back' },
        { expr: `60 * ${rateBy([], M.tokensOverdrawn)}`, legend: 'overdrawn' },
      ],
    },
    {
      id: 506,
      kind: 'stacked',
      title: 'Refunds by limit',
      description: 'How often room was given back, of requests and of tokens.',
      unit: 'reqps',
      width: 8,
      traces: { 'weir.refund.reason': 'error' },
      queries: [
        { expr: rateBy([A.bucket, A.refundReason], M.refunds), legend: legend(A.bucket, A.refundReason) },
      ],
    },
    {
      id: 507,
      kind: 'states',
      title: 'Breakers',
      description:
        'Models that are left alone because too many of their calls failed, or that are tried again with care.',
      unit: 'none',
      width: 8,
      queries: [
        {
          expr: `2 * ${breakers('open')} + ${breakers('half_open')}`,
          legend: legend(A.account, A.requestModel),
        },
      ],
      // Gateways may stand differently: one that is open counts.
      states: {
        0: { text: 'closed', color: 'green' },
        1: { text: 'probing', color: 'orange' },
        2: { text: 'open', color: 'red' },
        3: { text: 'open', color: 'red' },
      },
    },
    {
      id: 508,
      kind: 'states',
      title: 'Parked accounts',
      description: 'Accounts that are not called: credit or day used up, or key refused. Somebody must act.',
      unit: 'none',
      width: 8,
      queries: [
        {
          expr: `max by (weir_account, weir_parked_reason) (${dimension(M.accountParked)})`,
          legend: legend(A.account, A.parkedReason),
        },
      ],
      states: { 1: { text: 'parked', color: 'red' } },
    },
    {
      id: 509,
      kind: 'stacked',
      title: 'Calls that never left',
      description:
        'Permits that were granted and given back before a byte was sent, such as a refused connection.',
      unit: 'reqps',
      width: 8,
      queries: [{ expr: rateBy([A.attemptOutcome], M.unsent), legend: legend(A.attemptOutcome) }],
    },
    {
      id: 510,
      kind: 'stacked',
      title: 'Broken streams, and what became of them',
      description:
        'Only of models whose midStream says so. joined went on as one stream, diverged came with another text and was given up, failed broke before it could join, cancelled callers left.',
      unit: 'reqps',
      width: 24,
      traces: { 'weir.resume.result': 'joined' },
      queries: [
        {
          expr: rateBy([A.requestModel, A.resumeResult], M.resumes),
          legend: legend(A.requestModel, A.resumeResult),
        },
      ],
    },
  ],
};
