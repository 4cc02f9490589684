import type { Milliseconds } from './units.js';

/**
 * Every code a caller may read in `error.code`, with its HTTP status and OpenAI error type.
 * docs/errors.md lists exactly these; a test compares the two.
 * `upstream_rejected` shows the provider's own status and body instead of this one.
 */
export const ERRORS = {
  invalid_request: { status: 400, type: 'invalid_request_error' },
  cost_exceeds_capacity: { status: 400, type: 'invalid_request_error' },
  unauthorized: { status: 401, type: 'authentication_error' },
  model_not_found: { status: 404, type: 'invalid_request_error' },
  stream_not_found: { status: 404, type: 'invalid_request_error' },
  stream_gone: { status: 410, type: 'invalid_request_error' },
  idempotency_conflict: { status: 409, type: 'invalid_request_error' },
  body_too_large: { status: 413, type: 'invalid_request_error' },
  team_share_exceeded: { status: 429, type: 'rate_limit_error' },
  wait_exceeds_deadline: { status: 429, type: 'rate_limit_error' },
  account_parked: { status: 429, type: 'rate_limit_error' },
  upstream_rate_limited: { status: 429, type: 'rate_limit_error' },
  queue_full: { status: 503, type: 'overloaded_error' },
  draining: { status: 503, type: 'overloaded_error' },
  circuit_open: { status: 503, type: 'overloaded_error' },
  upstream_unavailable: { status: 502, type: 'upstream_error' },
  upstream_protocol: { status: 502, type: 'upstream_error' },
  upstream_auth: { status: 502, type: 'upstream_error' },
  upstream_timeout: { status: 504, type: 'upstream_error' },
  upstream_rejected: { status: 400, type: 'invalid_request_error' },
  stream_truncated: { status: 502, type: 'upstream_error' },
  client_disconnected: { status: 499, type: 'client_error' },
  internal: { status: 500, type: 'internal_error' },
} as const satisfies Record<string, { status: number; type: string }>;

/** One of the codes of docs/errors.md. */
export type ErrorCode = keyof typeof ERRORS;

/** Who said no. */
export type Origin = 'gateway' | 'provider';

/**
 * What a provider's no means; decides retry and refund (docs/providers.md).
 * Errors that the gateway itself raises have none.
 */
export type FailureClass =
  | 'rate_limit_requests'
  | 'rate_limit_tokens'
  | 'concurrency'
  | 'quota_exhausted'
  | 'overloaded'
  | 'transient'
  | 'too_large'
  | 'auth'
  | 'invalid_request'
  | 'fatal';

/** Which wait ran out. */
export type TimeoutPhase = 'connect' | 'headers' | 'first_frame' | 'idle' | 'total';

/** A provider's answer that the caller sees as it came. */
export interface PassThrough {
  readonly status: number;
  readonly contentType: string;
  readonly body: Uint8Array;
}

/** Whom a request called before it failed, and how often. */
export interface CallsMade {
  /** The account that it called last. */
  readonly account: string;
  readonly attempts: number;
}

/** What a GatewayError carries besides code and message. */
export interface GatewayErrorDetail {
  /** Default `gateway`. */
  readonly origin?: Origin;
  readonly failure?: FailureClass;
  /** Whether the same request may succeed later on the same account without a person. Default false. */
  readonly retryable?: boolean;
  /** The shortest honest wait before another try, counted from `GatewayError`'s making. */
  readonly hintMs?: Milliseconds;
  /** HTTP status that the provider gave, or that its in-band error amounts to; absent when nothing was answered. */
  readonly upstreamStatus?: number;
  /** True where a spent quota or a refused permission is one model's, not the whole account's. Default false. */
  readonly perModel?: boolean;
  /**
   * True where nothing shows that the provider itself refused: a page, a bare sentence or no body at all, as machines on
   * the way send them. Default false.
   */
  readonly anonymous?: boolean;
  /** The request field at fault, in OpenAI's `param`. */
  readonly param?: string;
  /** The limiter's dimension that was in the way. */
  readonly dimension?: string;
  readonly phase?: TimeoutPhase;
  /** True once the request may have reached the provider. */
  readonly sent?: boolean;
  /** True once visible output was handed to the caller: nothing may be replayed. */
  readonly committed?: boolean;
  readonly passThrough?: PassThrough;
  /** Absent where nobody was called. */
  readonly calls?: CallsMade;
  readonly cause?: unknown;
}

/**
 * A failure as one value: raised once at the boundary that understands it, mapped to HTTP once at the door.
 * Its message tells a caller what to do next and never holds a key, a prompt or a completion.
 */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly origin: Origin;
  readonly failure: FailureClass | undefined;
  readonly retryable: boolean;
  readonly hintMs: Milliseconds | undefined;
  readonly upstreamStatus: number | undefined;
  readonly perModel: boolean;
  readonly anonymous: boolean;
  readonly param: string | undefined;
  readonly dimension: string | undefined;
  readonly phase: TimeoutPhase | undefined;
  readonly sent: boolean;
  readonly committed: boolean;
  readonly passThrough: PassThrough | undefined;
  readonly calls: CallsMade | undefined;

  constructor(
    readonly code: ErrorCode,
    message: string,
    detail: GatewayErrorDetail = {},
  ) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.origin = detail.origin ?? 'gateway';
    this.failure = detail.failure;
    this.retryable = detail.retryable ?? false;
    this.hintMs = detail.hintMs;
    this.upstreamStatus = detail.upstreamStatus;
    this.perModel = detail.perModel ?? false;
    this.anonymous = detail.anonymous ?? false;
    this.param = detail.param;
    this.dimension = detail.dimension;
    this.phase = detail.phase;
    this.sent = detail.sent ?? false;
    this.committed = detail.committed ?? false;
    this.passThrough = detail.passThrough;
    this.calls = detail.calls;
  }

  /** The same error, of a request that had called somebody. */
  after(calls: CallsMade): GatewayError {
    const { code, message, cause } = this;
    return Object.assign(new GatewayError(code, message, { cause }), this, { calls });
  }

  /** The status that the caller gets. */
  get status(): number {
    return this.passThrough?.status ?? ERRORS[this.code].status;
  }

  /** OpenAI's `error.type`. */
  get type(): string {
    return ERRORS[this.code].type;
  }
}

/** Whatever was thrown, as a GatewayError; what nobody foresaw becomes `internal`, its text kept out of the answer. */
export function toGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  return new GatewayError(
    'internal',
    'The gateway failed unexpectedly. Quote the x-request-id when you report it.',
    {
      cause: thrown,
    },
  );
}
