import type { FailureClass } from '@weir/kernel';

/** The providers that we know something of; everything else is `generic`. */
export type ProfileId =
  | 'openai'
  | 'azure'
  | 'anthropic'
  | 'gemini'
  | 'groq'
  | 'mistral'
  | 'deepseek'
  | 'openrouter'
  | 'together'
  | 'fireworks'
  | 'xai'
  | 'vllm'
  | 'ollama'
  | 'litellm'
  | 'one-api'
  | 'generic';

/** A header that states a limit, and what it must be multiplied with to be a limit per minute. */
export interface QuotaHeader {
  readonly limit: string;
  /** Left out where the number does not last a minute: it would say "empty" for a slice of a second. */
  readonly remaining?: string;
  /** When the window is full again; a time above a minute unmasks a daily limit behind a name that hides it. */
  readonly reset?: string;
  readonly perMinute: number;
}

/** What we know of a provider, as data. docs/providers.md names the vendor's page behind each entry. */
export interface ProviderProfile {
  readonly id: ProfileId;
  /** OpenTelemetry's `gen_ai.provider.name`. */
  readonly providerName: string;
  /** The header that carries the key; `authorization` as a bearer token, any other as the bare key. */
  readonly keyHeader: 'authorization' | 'api-key';
  /** Whether `stream_options.include_usage` may be added; where not, the provider reports usage anyway or refuses it. */
  readonly acceptsIncludeUsage: boolean;
  /**
   * What it books of tokens when a request starts: prompt and max_tokens; the larger of the two; what comes out, as it
   * comes; or the prompt alone (its documentation, read 2026-11). Unknown: the most cautious, the first.
   */
  readonly books: 'prompt_and_max' | 'larger_of_both' | 'as_produced' | 'input_only';
  /** Whether it admits by an estimate from characters (documented, read 2026-11), whatever a tokenizer would count. */
  readonly guessesInput?: true;
  /** What a 429 means here whatever it says, where the provider has only one limit. */
  readonly every429?: FailureClass;
  readonly requests?: QuotaHeader;
  readonly tokens?: QuotaHeader;
}
