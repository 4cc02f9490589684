import { ATTRIBUTES as A, METRICS as M } from '@weir/telemetry';
import type { DashboardSpec, VariableSpec } from './dashboard.js';
import { burnersRow } from './rows/burners.js';
import { costRow } from './rows/cost.js';
import { recoveryRow } from './rows/recovery.js';
import { requestsRow } from './rows/requests.js';
import { roomRow } from './rows/room.js';
import { telemetryHealthRow } from './rows/telemetry-health.js';
import { throttledRow } from './rows/throttled.js';

/** Choices that both dashboards have. */
export const PROVIDER: VariableSpec = {
  name: 'provider',
  label: 'Provider',
  description: 'Only calls to this provider.',
  metrics: [M.attempts],
  attribute: A.provider,
};
/** As {@link PROVIDER}. */
export const MODEL: VariableSpec = {
  name: 'model',
  label: 'Model',
  description:
    'Only this model. A route of another name is one, too: of requests it is the name that callers use, of calls the one at the provider. Limits of whole accounts stay.',
  metrics: [M.requests, M.attempts],
  attribute: A.requestModel,
};
/** As {@link PROVIDER}. */
export const TEMPLATE: VariableSpec = {
  name: 'template',
  label: 'Template',
  description: 'Only this x-prompt-template, where a metric knows it.',
  metrics: [M.requests],
  attribute: A.promptName,
};
/** As {@link PROVIDER}. */
export const PRIORITY: VariableSpec = {
  name: 'priority',
  label: 'Priority',
  description: 'Only this x-weir-priority, where a metric knows it.',
  metrics: [M.requests],
  attribute: A.priority,
};
const TEAM: VariableSpec = {
  name: 'team',
  label: 'Team',
  description: 'Only this team, where a metric knows it.',
  metrics: [M.requests],
  attribute: A.team,
};

/** For whoever runs Weir. */
export const weir: DashboardSpec = {
  uid: 'weir',
  title: 'Weir',
  description: 'Whether calls are throttled, who burns the quota, and what was done about it.',
  variables: [PROVIDER, MODEL, TEAM, TEMPLATE, PRIORITY],
  beside: { title: 'Weir: one team', uid: 'weir-team', withVariables: false },
  rows: [throttledRow, burnersRow, roomRow, requestsRow, recoveryRow, costRow, telemetryHealthRow],
};
