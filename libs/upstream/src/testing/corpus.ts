import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { completionFacts, isRecord, parseJson, SseDecoder } from '@weir/protocol';
import type { ProfileId } from '../profiles/profile.js';

/** One recorded answer, and what it means. */
export interface CorpusCase {
  readonly id: string;
  readonly provider: string;
  readonly kind: 'http' | 'sse';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly expect: {
    readonly class: string;
    readonly retryable: boolean;
    readonly waitMs: number | null;
    readonly terminal: boolean;
    readonly text: string | null;
    readonly usage: Readonly<Record<string, number>> | null;
  };
  readonly note: string;
}

/** What was made of an answer, in the corpus's words. */
export interface Judgement {
  readonly class: string;
  readonly retryable: boolean;
  readonly waitMs: number | null;
  readonly terminal: boolean;
  readonly text: string | null;
  readonly usage: Readonly<Record<string, number>> | null;
}

/** All recorded answers. */
export const CORPUS = JSON.parse(
  readFileSync(join(__dirname, '../../fixtures/provider-responses.json'), 'utf8'),
) as readonly CorpusCase[];

const PROFILE_OF: Readonly<Record<string, ProfileId>> = {
  'gemini-openai-compat': 'gemini',
  'new-api': 'one-api',
  reseller: 'one-api',
};
const KNOWN = new Set<string>([
  ...['openai', 'azure', 'anthropic', 'gemini', 'groq', 'mistral', 'deepseek', 'openrouter', 'together'],
  ...['fireworks', 'xai', 'vllm', 'ollama', 'litellm', 'one-api'],
]);

/** The profile that an operator would choose. */
export function profileFor(provider: string): ProfileId {
  if (KNOWN.has(provider)) return provider as ProfileId;
  return PROFILE_OF[provider] ?? 'generic';
}

/** The class that a contested note accepts besides the expected one. */
export function acceptedClasses(entry: CorpusCase): readonly string[] {
  const other = /^CONTESTED \(accept (\w+)/.exec(entry.note)?.[1];
  const sameAs = /^CONTESTED as azure-429-86400/.test(entry.note) ? 'quota_exhausted' : undefined;
  return [entry.expect.class, other, sameAs].filter((name) => name !== undefined);
}

/** The visible text of choice 0 in an answer's bytes. */
export function visibleText(bytes: Buffer): string | null {
  let text = '';
  const add = (json: unknown): void => {
    if (!isRecord(json)) return;
    for (const choice of completionFacts(json).choices) if (choice.index === 0) text += choice.text;
  };
  const whole = parseJson(bytes.toString('utf8'));
  if (isRecord(whole)) add(whole);
  else {
    const decoder = new SseDecoder();
    const read = (event: { data: Buffer | undefined }): void => {
      add(parseJson(event.data?.toString('utf8') ?? ''));
    };
    decoder.push(bytes, read);
    decoder.end(read);
  }
  return text === '' ? null : text;
}
