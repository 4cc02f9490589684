import { ATTRIBUTES as A, METRICS as M } from '@weir/telemetry';
import type { RowSpec } from '../panel-spec.js';
import { dimension, legend, quantileBy, series } from '../selectors.js';

const DIMENSION = 'gen_ai_request_model, weir_account, weir_team, weir_bucket';
const NAMED = legend(A.account, A.team, A.requestModel, A.bucket);
/** Every replica tells of the same dimension: the fullest counts. */
const LEVEL = `min by (${DIMENSION}) (${dimension(M.bucketLevel)})`;
const LIMIT = `max by (${DIMENSION}) (${dimension(M.bucketLimit)})`;
/** The shape that is: one that a dimension had is 0 beside it for a while. */
const SHAPE = `(max by (${DIMENSION}, weir_shape) (${dimension(M.bucketShape)}) == 1)`;

/** Row 3: how much of each limit is in use, and who waits for it. */
export const roomRow: RowSpec = {
  id: 300,
  title: 'Room and queue',
  panels: [
    {
      id: 301,
      kind: 'lines',
      title: 'Use of each limit',
      description:
        'Share of each limit that is spent or reserved. The model * is the whole account. Above 90 % for ten minutes there is a warning.',
      unit: 'percentunit',
      width: 12,
      limit: 0.9,
      queries: [{ expr: `1 - ${LEVEL} / (${LIMIT} > 0)`, legend: NAMED }],
    },
    {
      id: 302,
      kind: 'table',
      title: 'Limits now',
      description:
        'What each limit allows and has left. The shape is how the provider enforces it, declared or learned.',
      unit: 'short',
      width: 12,
      columns: {
        weir_account: 'Account',
        weir_team: 'Team',
        gen_ai_request_model: 'Model',
        weir_bucket: 'Limit of',
        weir_shape: 'Shape',
      },
      queries: [
        { expr: `${SHAPE} * on (${DIMENSION}) group_left () ${LIMIT}`, legend: 'Limit' },
        { expr: `${SHAPE} * on (${DIMENSION}) group_left () ${LEVEL}`, legend: 'Room' },
      ],
    },
    {
      id: 303,
      kind: 'stacked',
      title: 'Waiting requests',
      description: 'Requests that wait for a permit, by priority.',
      unit: 'short',
      width: 8,
      queries: [{ expr: `sum by (weir_priority) (${series(M.queueDepth)})`, legend: legend(A.priority) }],
    },
    {
      id: 304,
      kind: 'lines',
      title: 'Oldest waiting request',
      description: 'How long the one that has waited longest has waited.',
      unit: 's',
      width: 8,
      queries: [{ expr: `max by (weir_priority) (${series(M.queueOldest)})`, legend: legend(A.priority) }],
    },
    {
      id: 305,
      kind: 'stacked',
      title: 'Permits that are out',
      description: 'Calls that are running, by model. A stream counts until its last byte.',
      unit: 'short',
      width: 8,
      queries: [
        { expr: `sum by (gen_ai_request_model) (${series(M.inflight)})`, legend: legend(A.requestModel) },
      ],
    },
    {
      id: 306,
      kind: 'lines',
      title: 'Wait in the queue, 95 of 100',
      description: 'From being next in its conversation to the permit, with the objective of each priority.',
      unit: 's',
      width: 8,
      traces: { 'weir.wait.result': 'granted' },
      queries: [
        { expr: quantileBy(0.95, [A.priority], M.queueWait), legend: legend(A.priority) },
        {
          expr: 'max by (weir_priority) (weir_queue_wait:objective_seconds{weir_priority=~"$priority"})',
          legend: 'objective {{weir_priority}}',
        },
      ],
    },
    {
      id: 307,
      kind: 'lines',
      title: 'What the waits were for, 95 of 100',
      description: 'The same wait by the limit that was the last to have room. `none` waited for nothing.',
      unit: 's',
      width: 8,
      traces: { 'weir.wait.result': 'granted' },
      queries: [{ expr: quantileBy(0.95, [A.bucket], M.acquireWait), legend: legend(A.bucket) }],
    },
    {
      id: 308,
      kind: 'lines',
      title: 'Left, as the provider tells it',
      description:
        'The last remaining count in a header of the provider, and our own. Far apart for long means that somebody else uses the account.',
      unit: 'short',
      width: 8,
      queries: [
        {
          expr: `min by (weir_account, gen_ai_request_model, weir_bucket) (${series(M.providerRemaining)})`,
          legend: `told ${legend(A.account, A.requestModel, A.bucket)}`,
        },
        {
          expr: `min by (weir_account, gen_ai_request_model, weir_bucket) (${dimension(M.bucketLevel, { [A.bucket]: '=~"rpm|tpm"' })})`,
          legend: `ours ${legend(A.account, A.requestModel, A.bucket)}`,
        },
      ],
    },
  ],
};
