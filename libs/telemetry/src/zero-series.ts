import type { FailureClass } from '@weir/kernel';
import type { RefundReason } from '@weir/limiter';
import type { RetryDecision } from '@weir/retry';
import type { Instruments } from './instruments.js';
import type { ConfiguredLabels } from './label-guard.js';
import type { CounterFamily } from './metric-families.js';
import { ATTEMPT_OUTCOMES, OUTCOMES, THROTTLE_KINDS, type ResumeResult } from './names.js';

/** Series of one metric that are made at zero before their first count. */
const ZERO_SERIES_LIMIT = 5_000;

/** A retry may follow these; the last two only at another account, so that they are never given up on. */
const RETRY_REASONS: Partial<Record<FailureClass, 'any' | 'elsewhere'>> = {
  rate_limit_requests: 'any',
  rate_limit_tokens: 'any',
  concurrency: 'any',
  overloaded: 'any',
  transient: 'any',
  auth: 'elsewhere',
  quota_exhausted: 'elsewhere',
};
/** Whether it is tried again. */
const RETRY_RESULTS: Record<RetryDecision['result'] | 'recovered', boolean> = {
  scheduled: true,
  recovered: true,
  exhausted: false,
  budget_denied: false,
  deadline: false,
};
/** Whether requests come back for it too, or tokens only. */
const REFUND_REASONS: Record<RefundReason, 'both' | 'tokens'> = {
  overestimate: 'tokens',
  throttled: 'both',
  error: 'both',
  cancelled: 'both',
};
const RESUME_RESULTS: Record<ResumeResult, true> = {
  joined: true,
  diverged: true,
  failed: true,
  cancelled: true,
};
/** An attempt that never left is neither answered nor refused. */
const UNSENT_OUTCOMES = ATTEMPT_OUTCOMES.filter((outcome) => outcome !== 'ok' && outcome !== 'throttled');
const OPERATIONS = ['chat', 'embeddings'] as const;

/**
 * Makes the counters' series of what is configured at zero: the first increment of a series that was not there before is
 * invisible to `rate` and `increase`. Which ones, by family:
 *
 * - By account and model, all that can come: attempts, unsent, retries, refunds, resumes, tokens. A few dozen a model; alerts
 *   hang on them, and on a good day what they count is rare.
 * - By team and model too: the reservation ledger.
 * - By team, model and template, because that is what these are for: requests, 429s, quota, and cost where there is a price.
 *   Registered templates only, and at most `ZERO_SERIES_LIMIT` a family: a hundred teams with ten templates would be more
 *   zeros than a store is for. What callers have who say nothing comes first: template `none`, priority `normal`.
 * - Requests that are refused before they are understood: by team, and for those whose key nobody knows.
 * - Not at all: templates that nobody registered, and histograms, whose seventeen series each would cost more than the one
 *   observation that a quantile misses.
 */
export function zeroSeries(instruments: Instruments, configured: ConfiguredLabels): void {
  for (const { id: account, provider, models } of configured.accounts)
    for (const { name } of models) zeroTarget(instruments, [provider, name, account]);
  zeroLedger(instruments, configured);
  const templates = templatesOf(configured);
  for (const template of templates) zeroBurners(instruments, configured, template);
  for (const { id: team } of [...configured.teams, { id: 'unknown' }])
    touch(instruments.requests, 'other', team, 'none', 'normal', 'rejected');
  for (const priority of ['normal', 'high', 'low'])
    for (const template of templates) zeroRequests(instruments, configured, template, priority);
}

const RETRIES = Object.entries(RETRY_REASONS).flatMap(([reason, where]) =>
  Object.entries(RETRY_RESULTS)
    .filter(([, goesOn]) => goesOn || where === 'any')
    .map(([result]) => [reason, result] as const),
);
const REFUNDS = Object.entries(REFUND_REASONS).flatMap(([reason, what]) =>
  (what === 'both' ? ['tpm', 'rpm'] : ['tpm']).map((bucket) => [bucket, reason] as const),
);

/** What hangs on a target alone. */
function zeroTarget(instruments: Instruments, target: readonly [string, string, string]): void {
  const [provider, model] = target;
  for (const outcome of ATTEMPT_OUTCOMES) touch(instruments.attempts, ...target, outcome);
  for (const outcome of UNSENT_OUTCOMES) touch(instruments.unsent, ...target, outcome);
  for (const [reason, result] of RETRIES) touch(instruments.retries, provider, model, reason, result);
  for (const result of Object.keys(RESUME_RESULTS)) touch(instruments.resumes, model, result);
  for (const [bucket, reason] of REFUNDS) touch(instruments.refunds, model, bucket, reason);
  for (const operation of OPERATIONS)
    for (const tokens of [instruments.inputTokens, instruments.outputTokens])
      touch(tokens, provider, model, operation, 'text');
}

/** What was reserved, given back and overdrawn, for each team. */
function zeroLedger(instruments: Instruments, { accounts, teams }: ConfiguredLabels): void {
  const { tokensReserved, tokensOverdrawn, tokensRefunded } = instruments;
  for (const { name: model } of accounts.flatMap(({ models }) => models)) {
    for (const { id: team } of teams) {
      touch(tokensReserved, model, team);
      touch(tokensOverdrawn, model, team);
      for (const reason of Object.keys(REFUND_REASONS)) touch(tokensRefunded, model, team, reason);
    }
  }
}

/** `none`, then every template that a team has registered. */
function templatesOf({ teams }: ConfiguredLabels): ReadonlySet<string> {
  return new Set(['none', ...teams.flatMap(({ templates }) => templates)]);
}

function usersOf({ teams }: ConfiguredLabels, template: string): ConfiguredLabels['teams'] {
  return teams.filter(({ templates }) => template === 'none' || templates.includes(template));
}

/** Who may burn what with a template. */
function zeroBurners(instruments: Instruments, configured: ConfiguredLabels, template: string): void {
  const { throttled, quotaTokens, costUsd } = instruments;
  for (const { id: team } of usersOf(configured, template)) {
    for (const { id: account, provider, models } of configured.accounts) {
      for (const { name: model, price } of models) {
        touch(quotaTokens, provider, model, team, template);
        if (price !== undefined) touch(costUsd, provider, model, team, template);
        for (const kind of THROTTLE_KINDS) touch(throttled, provider, model, account, team, template, kind);
      }
    }
  }
}

function zeroRequests(
  { requests }: Instruments,
  configured: ConfiguredLabels,
  template: string,
  priority: string,
): void {
  for (const { id: team } of usersOf(configured, template))
    for (const route of configured.routes)
      for (const outcome of OUTCOMES) touch(requests, route, team, template, priority, outcome);
}

function touch(family: CounterFamily, ...labels: readonly string[]): void {
  if (family.size < ZERO_SERIES_LIMIT) family.at(...labels);
}
