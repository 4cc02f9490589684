import { ATTRIBUTES as A, METRICS as M } from '@weir/telemetry';
import type { RowSpec } from '../panel-spec.js';
import { dimension, legend, rateBy, series, totalBy } from '../selectors.js';

const WHO = [A.requestModel, A.team, A.promptName];
const TOKEN_LIMITS = { [A.bucket]: '=~"tpm|itpm|otpm"' } as const;

/** Row 2: which model, which team, which prompt template. */
export const burnersRow: RowSpec = {
  id: 200,
  title: 'Who burns the quota?',
  panels: [
    {
      id: 201,
      kind: 'table',
      title: 'Model, team and template',
      description:
        'Tokens charged to the quotas of providers in the time range, the share of all, upstream 429s and cost. Sort by any column.',
      unit: 'short',
      width: 24,
      columns: {
        gen_ai_request_model: 'Model',
        weir_team: 'Team',
        gen_ai_prompt_name: 'Template',
      },
      columnUnits: { Share: 'percentunit', Cost: 'currencyUSD' },
      queries: [
        { expr: totalBy(WHO, M.quotaTokens), legend: 'Tokens' },
        {
          expr: `${totalBy(WHO, M.quotaTokens)} / on () group_left () (${totalBy([], M.quotaTokens)} > 0)`,
          legend: 'Share',
        },
        { expr: totalBy(WHO, M.throttled), legend: '429s' },
        { expr: totalBy(WHO, M.costUsd), legend: 'Cost' },
      ],
    },
    {
      id: 202,
      kind: 'stacked',
      title: 'Tokens a minute by team',
      description: 'What each team takes from the quotas of the chosen models.',
      unit: 'short',
      width: 8,
      queries: [{ expr: `60 * ${rateBy([A.team], M.quotaTokens)}`, legend: legend(A.team) }],
    },
    {
      id: 203,
      kind: 'lines',
      title: 'Tokens a minute against the limit',
      description:
        'Tokens charged by model, and the limits of accounts and models. A limit counts what is reserved for answers that are still running, too.',
      unit: 'short',
      width: 8,
      queries: [
        { expr: `60 * ${rateBy([A.requestModel], M.quotaTokens)}`, legend: legend(A.requestModel) },
        {
          expr: `max by (weir_account, gen_ai_request_model, weir_bucket) (${dimension(M.bucketLimit, TOKEN_LIMITS)})`,
          legend: `limit ${legend(A.account, A.requestModel, A.bucket)}`,
        },
      ],
    },
    {
      id: 204,
      kind: 'stacked',
      title: 'Share of tokens by template',
      description: 'Which prompt template the tokens go to. `none` is traffic without x-prompt-template.',
      unit: 'percentunit',
      width: 8,
      queries: [
        {
          expr: `${rateBy([A.promptName], M.quotaTokens)} / on () group_left () (${rateBy([], M.quotaTokens)} > 0)`,
          legend: legend(A.promptName),
        },
      ],
    },
    {
      id: 205,
      kind: 'lines',
      title: '429s in an hour by team and template',
      description: 'The ten whose calls met the most upstream 429s in the hour before each point.',
      unit: 'short',
      width: 12,
      traces: { 'weir.attempt.outcome': 'throttled' },
      queries: [
        {
          expr: `topk(10, sum by (weir_team, gen_ai_prompt_name) (increase(${series(M.throttled)}[1h])))`,
          legend: legend(A.team, A.promptName),
        },
      ],
    },
    {
      id: 206,
      kind: 'stacked',
      title: 'Requests by team',
      description: 'Requests that ended, whatever their outcome.',
      unit: 'reqps',
      width: 12,
      queries: [{ expr: rateBy([A.team], M.requests), legend: legend(A.team) }],
    },
  ],
};
