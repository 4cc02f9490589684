import { ATTRIBUTES as A, METRICS as M } from '@weir/telemetry';
import type { RowSpec } from '../panel-spec.js';
import { legend, rateBy, totalBy } from '../selectors.js';

/** Row 6: money, by the prices in weir.yaml. */
export const costRow: RowSpec = {
  id: 600,
  title: 'Cost',
  panels: [
    {
      id: 601,
      kind: 'stat',
      title: 'Cost in the time range',
      description: 'By the prices in weir.yaml. Models without a price cost nothing here.',
      unit: 'currencyUSD',
      width: 4,
      queries: [{ expr: totalBy([], M.costUsd), legend: 'cost' }],
    },
    {
      id: 602,
      kind: 'stacked',
      title: 'Cost an hour by model',
      description: 'At the present rate.',
      unit: 'currencyUSD',
      width: 10,
      queries: [{ expr: `3600 * ${rateBy([A.requestModel], M.costUsd)}`, legend: legend(A.requestModel) }],
    },
    {
      id: 603,
      kind: 'stacked',
      title: 'Cost an hour by team and template',
      description: 'At the present rate.',
      unit: 'currencyUSD',
      width: 10,
      queries: [
        {
          expr: `3600 * ${rateBy([A.team, A.promptName], M.costUsd)}`,
          legend: legend(A.team, A.promptName),
        },
      ],
    },
    {
      id: 604,
      kind: 'lines',
      title: 'Billed tokens a minute',
      description: 'Prompt and completion tokens of completed answers, as the provider counted them.',
      unit: 'short',
      width: 24,
      queries: [
        { expr: `60 * ${rateBy([A.requestModel], M.inputTokens)}`, legend: `in ${legend(A.requestModel)}` },
        { expr: `60 * ${rateBy([A.requestModel], M.outputTokens)}`, legend: `out ${legend(A.requestModel)}` },
      ],
    },
  ],
};
