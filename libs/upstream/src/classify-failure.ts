import type { FailureClass } from '@weir/kernel';
import type { ProviderProfile } from './profiles/profile.js';
import type { Refusal } from './refusal.js';

/** What a refusal means. */
export interface Verdict {
  readonly failure: FailureClass;
  /** Whether the same request can succeed later on the same key without a person. */
  readonly retryable: boolean;
}

interface Rule {
  readonly failure: FailureClass | ((refusal: Refusal) => FailureClass);
  readonly when: (refusal: Refusal, profile: ProviderProfile) => boolean;
}

const TOO_LARGE_ID = /context_?(length|window|size)|exceed_context|^request_too_large$/;
const TOO_LARGE_TEXT = new RegExp(
  [
    'request too large',
    'maximum (context|prompt) length',
    'exceeds? (the )?(available )?context',
    'context ?window ?exceeded',
    '(prompt|input) is too long',
    'exceeded model token limit',
    'must have less than \\d+ tokens',
    'too many tokens: ',
    'input token count.{0,40}exceeds the maximum',
    // Azure's way to say that the request is larger than the whole limit.
    'retry after 86400 seconds',
  ].join('|'),
  'i',
);
const LIMIT_USED_REQUESTED = /limit:? ~?([\d,]+), (?:used:? ~?([\d,]+), )?requested:? ~?([\d,]+)/i;

const BILLING_IDS = [
  ...['insufficient_quota', 'credit_balance_exhausted', 'organization_spend_limit_exceeded'],
  ...['project_spend_limit_exceeded', 'organization_usage_limit_exceeded', 'billing_not_active'],
  ...['billing_hard_limit_reached', 'billing_error', 'enforced_spend_limit_reached', 'budget_exceeded'],
  ...[
    'exceeded_current_quota_error',
    'insufficient_user_quota',
    'openrouter_key_limit',
    'openrouter_credits',
  ],
  // DashScope, Volcengine, Novita and watsonx (their error pages, read 2026-11).
  ...['arrearage', 'accountoverdueerror', 'not_enough_balance', 'token_quota_reached'],
  'allocationquota.freetieronly',
];
/** A precondition may fail for other reasons; Fireworks suspends accounts so. */
const SUSPENDED_TEXT = /suspend|billing|spend|usage limit|budget|credit|balance|payment/i;
/** What stands in quotation marks is the caller's own: it must never park everybody's account. */
const QUOTED = /(?<!\w)'[^']*'(?!\w)|"[^"]*"|`[^`]*`/g;
const BILLING_TEXT = new RegExp(
  [
    'credit balance is too low',
    'insufficient (balance|credits?|funds)',
    'used all available credits',
    'spend(ing)? (cap|limit)',
    'billing hard limit',
    'budget (has been|limit) exceeded|over budget',
    "(doesn't|does not) have any credits",
    'reached your specified .{0,20}api usage limits',
    'credits are depleted',
    'out of call volume quota|replenished in \\d',
    'in arrears|overdue balance|not enough balance|balance is insufficient',
    '额度已用尽|额度不足|余额不足|预扣费额度失败',
  ].join('|'),
  'i',
);
/** OpenAI's billing sentence; Google says the same for a limit per minute. */
const CURRENT_QUOTA = /exceeded your current quota/i;
/** one-api says this for every 429 behind it, with the codes of a channel that is not ours. */
const SATURATED = /当前分组上游负载已饱和/;

const LONG_WINDOW_TEXT =
  /\((RPD|TPD)\)|\b(RPD|TPD) rate limit|per[ _](day|month)|per 86400 ?s|ByDay\b|\/ ?(day|month)\b|\bdaily ((request )?limit|quota|(free )?allocation)|free-models-per-day|当日.{0,8}上限/i;
/** Google's way to say that a model is not part of the plan. */
const ZERO_LIMIT_TEXT = /\blimit: 0\b(?![.\d])/i;
/** OpenAI and Groq name the model whose day is spent; OpenAI names the one that a project may not use. */
const ONE_MODEL_TEXT =
  /reached for (model )?\S+ in (organization|project)|have access to (the )?model|ByModelBy|is blocked at the (organization|project) level/i;
const SHORT_WINDOW_TEXT = /free-models-per-min/i;

const CONTENT_IDS = ['content_filter', 'content_policy_violation', 'responsibleaipolicyviolation'];
const AUTH_IDS = ['invalid_api_key', 'api_key_invalid', 'authentication_error'];
const CONTENT_TEXT =
  /violates? .{0,30}(usage|content) (guidelines|polic)|safety_check|safety policy|content.moderation/i;
const CONCURRENCY = /concurren|max.parallel|并发/i;

const OVERLOAD_ID =
  /overloaded|capacity_ex(ceeded|hausted)|^resource_unavailable$|^modelnotready|^serviceunavailableexception$/;
const OVERLOAD_TEXT = new RegExp(
  [
    'overloaded',
    'capacity (temporarily )?exceeded',
    'model busy|high traffic|访问量过大',
    'no capacity available',
    'experiencing high demand',
    'temporarily (unable|rate-limited upstream)',
    'resource exhausted\\. please try again later',
    'no deployments available',
    'server busy',
    '无可用渠道',
    SATURATED.source,
  ].join('|'),
  'i',
);

const TRANSIENT = new Set([408, 409, 425, 499]);
/** What the server will never do: the method, or the version of HTTP. */
const NEVER = new Set([501, 505]);
const WAIT_HELPS: ReadonlySet<FailureClass> = new Set([
  'concurrency',
  'overloaded',
  'rate_limit_requests',
  'rate_limit_tokens',
  'transient',
]);

/** What a no means (docs/providers.md). The first that fits wins; billing and size stand before the status. */
const RULES: readonly Rule[] = [
  {
    failure: 'fatal',
    when: (r) => (r.html && r.httpStatus < 300) || r.headers['cf-mitigated'] === 'challenge',
  },
  { failure: 'too_large', when: isTooLarge },
  { failure: 'concurrency', when: (r) => r.ids.has('openrouter_in_flight_budget') },
  { failure: 'quota_exhausted', when: isBilling },
  { failure: 'quota_exhausted', when: (r) => isThrottle(r) && isLongWindow(r) },
  { failure: 'invalid_request', when: isAboutContent },
  { failure: 'auth', when: (r) => r.status === 401 || r.status === 403 || hasAny(r, AUTH_IDS) },
  { failure: 'concurrency', when: (r) => r.status === 429 && speaksOf(r, CONCURRENCY) },
  { failure: 'overloaded', when: isOverloaded },
  { failure: limitedDimension, when: isThrottle },
  { failure: 'transient', when: isTransient },
  { failure: 'invalid_request', when: (r) => r.status >= 400 && r.status < 500 },
];

/** Decides what a refusal means, by rule and profile. */
export function classifyFailure(refusal: Refusal, profile: ProviderProfile): Verdict {
  const rule = RULES.find(({ when }) => when(refusal, profile));
  const ruled = typeof rule?.failure === 'function' ? rule.failure(refusal) : (rule?.failure ?? 'fatal');
  const isLimit = ruled === 'rate_limit_requests' || ruled === 'rate_limit_tokens';
  const failure = isLimit ? (profile.every429 ?? ruled) : ruled;
  // `x-should-retry: true` adds nothing: it may confirm a class that waits, and may not turn another into one.
  const forbidden = refusal.headers['x-should-retry'] === 'false' || refusal.retryable === false;
  return { failure, retryable: WAIT_HELPS.has(failure) && !forbidden };
}

/** Whether a refusal is about one model, as limits of a day and permissions may be. Money is the account's. */
export function isPerModel(refusal: Refusal): boolean {
  if (isBilling(refusal)) return false;
  return (
    refusal.quotas.some((quota) => /per_?(base_?)?model/i.test(quota)) || ONE_MODEL_TEXT.test(refusal.text)
  );
}

/** The numbers of "Limit 30000, Used 29937, Requested 385", where the prose has them. */
export function quotaNumbers(text: string): { limit: number; used: number; requested: number } | undefined {
  const match = LIMIT_USED_REQUESTED.exec(text);
  if (!match) return undefined;
  const [, limit, used, requested] = match;
  return { limit: digits(limit), used: digits(used), requested: digits(requested) };
}

/** A group that did not take part in the match counts as zero. */
function digits(text: string | undefined): number {
  return text === undefined ? 0 : Number(text.replaceAll(',', ''));
}

function isTooLarge(refusal: Refusal): boolean {
  if (refusal.status === 413) return true;
  if (refusal.status >= 500) return false;
  const numbers = quotaNumbers(refusal.text);
  if (numbers && numbers.requested > numbers.limit) return true;
  return hasLike(refusal, TOO_LARGE_ID) || TOO_LARGE_TEXT.test(refusal.text);
}

function isBilling(refusal: Refusal): boolean {
  if (SATURATED.test(refusal.text)) return false;
  if (refusal.status === 402 || hasAny(refusal, BILLING_IDS)) return true;
  if (refusal.status === 412 && SUSPENDED_TEXT.test(refusal.text)) return true;
  if (refusal.status >= 500) return false;
  const said = spoken(refusal.text);
  return BILLING_TEXT.test(said) || (CURRENT_QUOTA.test(said) && !isGoogle(refusal));
}

/** A text without what it quotes; one that is itself a quoted container (LiteLLM's) is taken whole. */
function spoken(text: string): string {
  return text.startsWith('{') ? text : text.replaceAll(QUOTED, '');
}

/** A rule about content said no, by a sign of its own or in words of a 403. */
function isAboutContent(refusal: Refusal): boolean {
  if (refusal.guardrail || hasAny(refusal, CONTENT_IDS)) return true;
  return refusal.status === 403 && CONTENT_TEXT.test(spoken(refusal.text));
}

function isGoogle(refusal: Refusal): boolean {
  return (
    refusal.ids.has('resource_exhausted') ||
    refusal.retryDelay !== undefined ||
    /ai\.google\.dev|RESOURCE_EXHAUSTED/.test(refusal.text)
  );
}

/** Quotas that no request can wait for. */
function isLongWindow(refusal: Refusal): boolean {
  if (namesDay(refusal) || ZERO_LIMIT_TEXT.test(refusal.text)) return true;
  return LONG_WINDOW_TEXT.test(refusal.text) && !SHORT_WINDOW_TEXT.test(refusal.text);
}

/** Google asks to wait seconds where the day must end, or where there is no quota at all. */
export function delayIsWrong(refusal: Refusal): boolean {
  return (
    namesDay(refusal) || ZERO_LIMIT_TEXT.test(refusal.text) || (isGoogle(refusal) && isLongWindow(refusal))
  );
}

function namesDay(refusal: Refusal): boolean {
  return refusal.quotas.some((quota) => /per_?day/i.test(quota));
}

function isThrottle(refusal: Refusal): boolean {
  return refusal.status === 429 || (refusal.status === 400 && refusal.ids.has('throttlingexception'));
}

function isOverloaded(refusal: Refusal): boolean {
  const { status } = refusal;
  if (status === 529 || status === 498 || status === 503 || hasLike(refusal, OVERLOAD_ID)) return true;
  return (status === 429 || status >= 500) && OVERLOAD_TEXT.test(refusal.text);
}

/** A fault of the server passes until it says otherwise, whatever its number. */
function isTransient({ status }: Refusal): boolean {
  return TRANSIENT.has(status) || (status >= 500 && status < 600 && !NEVER.has(status));
}

function speaksOf(refusal: Refusal, pattern: RegExp): boolean {
  return pattern.test(refusal.text) || hasLike(refusal, pattern);
}

function hasLike(refusal: Refusal, pattern: RegExp): boolean {
  return [...refusal.ids].some((id) => pattern.test(id));
}

function hasAny(refusal: Refusal, ids: readonly string[]): boolean {
  return ids.some((id) => refusal.ids.has(id));
}

const REQUESTS_TEXT =
  /\b(RPM|RPS)\b|requests? per (min|sec)|call rate limit|queries per|api calls|number of requests/i;
const TOKENS_TEXT = /\b[IO]?TPM\b|token/i;

/** Which of the two limits bit: said by id, metric or policy, else by prose, else the emptier one of the headers. */
function limitedDimension(refusal: Refusal): FailureClass {
  const ids = [...refusal.ids];
  if (refusal.ids.has('requests')) return 'rate_limit_requests';
  const named = [...ids, ...refusal.quotas, refusal.headers['policy-id'] ?? ''];
  if (named.some((name) => /token/i.test(name))) return 'rate_limit_tokens';
  // Requests first: Groq adds "Need more tokens?" to every refusal.
  if (REQUESTS_TEXT.test(refusal.text)) return 'rate_limit_requests';
  if (TOKENS_TEXT.test(refusal.text)) return 'rate_limit_tokens';
  const tokens = fullness(refusal, 'tokens');
  return tokens !== undefined && tokens < (fullness(refusal, 'requests') ?? 1)
    ? 'rate_limit_tokens'
    : 'rate_limit_requests';
}

/** Remaining over limit; sentinels such as -1 say nothing. */
function fullness(refusal: Refusal, unit: 'requests' | 'tokens'): number | undefined {
  const limit = Number(refusal.headers[`x-ratelimit-limit-${unit}`]);
  const remaining = Number(refusal.headers[`x-ratelimit-remaining-${unit}`]);
  return limit > 0 && remaining >= 0 ? remaining / limit : undefined;
}
