import type { EpochMilliseconds, Milliseconds } from '@weir/kernel';
import type { HeaderMap } from '../answer/answer.js';
import type { Refusal } from '../provider/provider.js';
import type { Standings } from '../provider/scope.js';

/** Whose headers and errors the simulator can wear: the profiles that Weir knows. */
export const PROFILE_NAMES = [
  'openai',
  'azure',
  'anthropic',
  'gemini',
  'groq',
  'mistral',
  'deepseek',
  'openrouter',
  'together',
  'fireworks',
  'xai',
  'vllm',
  'ollama',
  'litellm',
  'one-api',
  'generic',
] as const;

/** One of them. */
export type ProfileName = (typeof PROFILE_NAMES)[number];

/** What a profile may need besides the quotas. */
export interface Circumstances {
  readonly model: string;
  readonly windowMs: Milliseconds;
  readonly now: EpochMilliseconds;
}

/** A refusal as a provider writes it. */
export interface RefusalText {
  /** Default 429. */
  readonly status?: number;
  readonly headers: HeaderMap;
  /** Text goes out as it is. */
  readonly body: unknown;
}

/** One provider's way to tell its quotas. */
export interface Profile {
  /** On every answer, refusals included. */
  quotaHeaders(standings: Standings, about: Circumstances): HeaderMap;
  refuse(refusal: Refusal, about: Circumstances): RefusalText;
}

/** What the refused quota is called in prose. */
export const QUOTA_PROSE = {
  requests: 'requests per min (RPM)',
  tokens: 'tokens per min (TPM)',
  daily: 'requests per day (RPD)',
  concurrency: 'concurrent requests',
} as const;

/** Slots have no time; a second is what most providers say. */
const SLOT_HINT_MS: Milliseconds = 1000;

/** The shortest honest wait; undefined where waiting does not help. */
export function hintMs({ waitMs = SLOT_HINT_MS }: Refusal): Milliseconds | undefined {
  return Number.isFinite(waitMs) ? Math.max(1, Math.ceil(waitMs)) : undefined;
}

/** `retry-after` in whole seconds, never less than the wait. */
export function retryAfter(refusal: Refusal): HeaderMap {
  const hint = hintMs(refusal);
  return hint === undefined ? {} : { 'retry-after': String(Math.ceil(hint / 1000)) };
}

/** `retry-after` and, exactly, `retry-after-ms`. */
export function retryAfterMs(refusal: Refusal): HeaderMap {
  const hint = hintMs(refusal);
  return hint === undefined ? {} : { ...retryAfter(refusal), 'retry-after-ms': String(hint) };
}
