import type { Milliseconds, Target } from '@weir/kernel';
import type { KeyDigest } from './key-digest.js';
import type { Secret } from './secret.js';

/**
 * Everything that was configured, checked and resolved: no field is left to be defaulted by a reader.
 * Frozen to the last leaf; a reload makes a new one.
 */
export interface GatewayConfig {
  /** The file it came from, or `built-in`. */
  readonly source: string;
  readonly accounts: readonly AccountConfig[];
  /** By the model name that callers use. Without a prototype, so a caller's `constructor` finds nothing. */
  readonly routes: Readonly<Record<string, RouteConfig>>;
  readonly teams: readonly TeamConfig[];
  readonly server: ServerConfig;
  readonly admin: AdminConfig;
  readonly timeouts: TimeoutsConfig;
  readonly breaker: BreakerConfig;
  readonly queue: QueueConfig;
  readonly retry: RetryConfig;
  readonly store: StoreConfig;
  readonly disconnect: DisconnectPolicy;
  /** Sentences worth a warning in the log at the start: legal, but perhaps not what was meant. */
  readonly notices: readonly string[];
}

/** What we know of a provider: how it counts, which headers it sends, what its errors mean. */
export type ProfileName = (typeof PROFILE_NAMES)[number];

/** Every profile that a file may name. */
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

/** One credential at one provider. */
export interface AccountConfig {
  readonly id: string;
  readonly profile: ProfileName;
  /** `http(s)://…` without a slash at its end, query, fragment or credentials. */
  readonly baseUrl: string;
  readonly apiKey: Secret;
  /** Dimensions of the whole account. Empty: the account itself is not paced. */
  readonly limits: readonly DimensionLimit[];
  /** What "a minute" lasts at this account. */
  readonly windowMs: Milliseconds;
  /** Most requests at one time; undefined where no limit was configured. */
  readonly concurrency: number | undefined;
  readonly refundRequestsOn429: boolean;
  /** Never empty. */
  readonly models: readonly ModelConfig[];
}

/** One model of one account. */
export interface ModelConfig {
  /** The provider's name of it. It may hold slashes. */
  readonly name: string;
  /** Dimensions of this model, beside those of its account. */
  readonly limits: readonly DimensionLimit[];
  readonly price: PriceConfig | undefined;
  readonly midStream: MidStreamPolicy;
}

/** What a stream that breaks after its first visible frame turns into. */
export type MidStreamPolicy = 'fail' | 'splice' | 'continue';

/** US dollars for a million tokens. */
export interface PriceConfig {
  readonly inputPerMTok: number;
  readonly outputPerMTok: number;
  /** Equals `inputPerMTok` where none was configured. */
  readonly cachedInputPerMTok: number;
}

/** One limited quantity, as the limiter's dimensions want it. */
export interface DimensionLimit {
  readonly unit: 'requests' | 'tokens' | 'input_tokens' | 'output_tokens' | 'slots' | 'requests_per_day';
  /** Per window; slots: at one time. A whole number, at least 1. */
  readonly limit: number;
  /** The account's minute (a team's is 60 s); a real day for `requests_per_day`; without meaning for slots. */
  readonly windowMs: Milliseconds;
  /** `requests_per_day` is always sliding: right for a day that starts whenever, and for a bucket of a day. */
  readonly shape: WindowShape;
  /** Most requests that may leave at once; on `requests` only. Absent: the limiter's default. */
  readonly burst?: number;
}

/** How a provider enforces a window. */
export type WindowShape =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'sliding' }
  | { readonly kind: 'fixed' }
  | { readonly kind: 'bucket'; readonly capacity: number }
  | { readonly kind: 'quantum'; readonly quantumMs: Milliseconds };

/** Where requests for one model name go. */
export interface RouteConfig {
  readonly name: string;
  /** Equal choices. Never empty. */
  readonly targets: readonly Target[];
  /** Tried in order where no target can serve, before the commit point only. */
  readonly fallback: readonly Target[];
}

/** Who may call. */
export interface TeamConfig {
  readonly id: string;
  readonly keys: readonly KeyDigest[];
  /** Share of room relative to other teams. */
  readonly weight: number;
  readonly limits: readonly DimensionLimit[];
  readonly budget: { readonly usdPerDay: number } | undefined;
  /** Values of `x-prompt-template` that telemetry names; others become `other`. */
  readonly promptTemplates: readonly string[];
  /** Its keys are good only for callers whose socket address is loopback. True for the built-in team alone. */
  readonly loopbackOnly: boolean;
}

/** Where and how the gateway listens. */
export interface ServerConfig {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly bodyLimitBytes: number;
  /** How long running streams may go on after SIGTERM. */
  readonly drainMs: Milliseconds;
  /** 0: never. */
  readonly earlyOpenAfterMs: Milliseconds;
}

/** Who may use `/admin/v1`. */
export interface AdminConfig {
  /** Empty: nobody. */
  readonly keys: readonly KeyDigest[];
  /** As a team's: true for the built-in key alone. */
  readonly loopbackOnly: boolean;
}

/** How long an attempt may take. */
export interface TimeoutsConfig {
  readonly connectMs: Milliseconds;
  readonly headersMs: Milliseconds;
  readonly firstFrameMs: Milliseconds;
  readonly idleMs: Milliseconds;
  readonly totalMs: Milliseconds;
}

/** When a model of an account is left alone for a while. */
export interface BreakerConfig {
  readonly minAttempts: number;
  /** In (0, 1]. */
  readonly failureShare: number;
  readonly windowMs: Milliseconds;
  readonly openMs: Milliseconds;
  readonly maxOpenMs: Milliseconds;
}

/** How long, and how many, may wait. */
export interface QueueConfig {
  readonly maxWaitMs: Milliseconds;
  readonly maxDepth: number;
  readonly maxDepthPerTeam: number;
  /** J: spread of the one-way delay to providers. */
  readonly delaySpreadMs: Milliseconds;
}

/** How often an attempt may be repeated. */
export interface RetryConfig {
  /** The first attempt included. */
  readonly maxAttempts: number;
  /** Retries for each request, over all. */
  readonly budgetRatio: number;
  readonly maxHintMs: Milliseconds;
}

/** Where the ledger lives. */
export type StoreConfig = { readonly kind: 'memory' } | { readonly kind: 'redis'; readonly url: Secret };

/** What becomes of the provider's answer when its caller leaves. */
export type DisconnectPolicy = 'abort' | 'drain' | 'journal';
