import { ATTRIBUTES as A, METRICS as M } from '@weir/telemetry';
import type { DashboardSpec } from './dashboard.js';
import type { RowSpec } from './panel-spec.js';
import { dimension, legend, rateBy, series, totalBy } from './selectors.js';
import { MODEL, PRIORITY, PROVIDER, TEMPLATE } from './weir.js';

const WHAT = [A.requestModel, A.promptName];
/** Exactly this team: a regular expression would let the dots of a name stand for anything. */
const OF_TEAM = { [A.team]: '="$team"' } as const;
const ITS = { where: OF_TEAM } as const;

const answersRow: RowSpec = {
  id: 100,
  title: 'Do we get answers?',
  panels: [
    {
      id: 101,
      kind: 'stat',
      title: 'Requests answered',
      description: 'Share of this team’s requests of the last 5 minutes that got a whole answer.',
      unit: 'percentunit',
      width: 6,
      queries: [
        {
          expr:
            `(sum(rate(${series(M.requests, { where: { ...OF_TEAM, [A.outcome]: '="ok"' } })}[5m])) or vector(0))` +
            ` / (sum(rate(${series(M.requests, ITS)}[5m])) > 0)`,
          legend: 'answered',
        },
      ],
    },
    {
      id: 102,
      kind: 'stacked',
      title: 'Requests by outcome',
      description:
        'client_throttled and queue_timeout are refusals of Weir, upstream_ those of a provider, cancelled callers who left.',
      unit: 'reqps',
      width: 9,
      traces: { 'weir.team': '${team}' },
      queries: [{ expr: rateBy([A.outcome], M.requests, ITS), legend: legend(A.outcome) }],
    },
    {
      id: 103,
      kind: 'stacked',
      title: 'Upstream 429s by what they were about',
      description: 'Refusals that this team’s calls met at providers. Most are tried again and never seen.',
      unit: 'reqps',
      width: 9,
      traces: { 'weir.team': '${team}', 'weir.attempt.outcome': 'throttled' },
      queries: [{ expr: rateBy([A.throttleKind], M.throttled, ITS), legend: legend(A.throttleKind) }],
    },
  ],
};

const shareRow: RowSpec = {
  id: 200,
  title: 'What do we use?',
  panels: [
    {
      id: 201,
      kind: 'table',
      title: 'Model and template',
      description: 'Tokens charged to the quotas of providers in the time range, upstream 429s and cost.',
      unit: 'short',
      width: 24,
      columns: { gen_ai_request_model: 'Model', gen_ai_prompt_name: 'Template' },
      columnUnits: { Cost: 'currencyUSD' },
      queries: [
        { expr: totalBy(WHAT, M.quotaTokens, ITS), legend: 'Tokens' },
        { expr: totalBy(WHAT, M.throttled, ITS), legend: '429s' },
        { expr: totalBy(WHAT, M.costUsd, ITS), legend: 'Cost' },
      ],
    },
    {
      id: 202,
      kind: 'lines',
      title: 'Use of the team’s own limits',
      description:
        'Limits in weir.yaml for this team. At 100 % its requests wait, whatever the provider has left.',
      unit: 'percentunit',
      width: 12,
      limit: 0.9,
      queries: [
        {
          expr:
            `1 - min by (weir_team, weir_bucket) (${dimension(M.bucketLevel, OF_TEAM)})` +
            ` / (max by (weir_team, weir_bucket) (${dimension(M.bucketLimit, OF_TEAM)}) > 0)`,
          legend: legend(A.bucket),
        },
      ],
    },
    {
      id: 203,
      kind: 'stacked',
      title: 'Tokens a minute by template',
      description: 'What this team takes from the quotas of providers.',
      unit: 'short',
      width: 12,
      queries: [{ expr: `60 * ${rateBy([A.promptName], M.quotaTokens, ITS)}`, legend: legend(A.promptName) }],
    },
    {
      id: 204,
      kind: 'stacked',
      title: 'Cost an hour by model',
      description: 'By the prices in weir.yaml, at the present rate.',
      unit: 'currencyUSD',
      width: 12,
      queries: [
        { expr: `3600 * ${rateBy([A.requestModel], M.costUsd, ITS)}`, legend: legend(A.requestModel) },
      ],
    },
    {
      id: 205,
      kind: 'lines',
      title: 'Tokens reserved and given back, a minute',
      description:
        'A max_tokens that is never reached reserves room that then comes back too late to be used.',
      unit: 'short',
      width: 12,
      queries: [
        { expr: `60 * ${rateBy([], M.tokensReserved, ITS)}`, legend: 'reserved' },
        { expr: `60 * ${rateBy([], M.tokensRefunded, ITS)}`, legend: 'given back' },
      ],
    },
  ],
};

/** For one team, which sees itself only. */
export const weirTeam: DashboardSpec = {
  uid: 'weir-team',
  title: 'Weir: one team',
  description: 'What one team asks for, gets and pays.',
  variables: [
    {
      name: 'team',
      label: 'Team',
      description: 'Whose numbers these are.',
      metrics: [M.requests],
      attribute: A.team,
      single: true,
    },
    { ...PROVIDER, metrics: [M.quotaTokens], where: OF_TEAM },
    { ...MODEL, metrics: [M.requests, M.quotaTokens], where: OF_TEAM },
    { ...TEMPLATE, where: OF_TEAM },
    { ...PRIORITY, where: OF_TEAM },
  ],
  beside: { title: 'Weir', uid: 'weir', withVariables: true },
  rows: [answersRow, shareRow],
};
