/**
 * Attribute and span names, in one place.
 *
 * `gen_ai.*`: OpenTelemetry semantic-conventions-genai v0.1.0, read 2026-11-29, status Development. The npm package
 * `@opentelemetry/semantic-conventions` 1.45 holds only the older names, so these are copied by hand.
 * `http.*`, `server.*`, `error.*`, `url.*`, `network.*`, `user_agent.*`: semantic conventions v1.44.0 (2026-08), Stable.
 * `weir.*`: ours. Nothing of ours is invented inside `gen_ai.*`.
 */
export const ATTRIBUTES = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  requestStream: 'gen_ai.request.stream',
  promptName: 'gen_ai.prompt.name',
  responseModel: 'gen_ai.response.model',
  responseId: 'gen_ai.response.id',
  finishReasons: 'gen_ai.response.finish_reasons',
  timeToFirstChunk: 'gen_ai.response.time_to_first_chunk',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cachedTokens: 'gen_ai.usage.cache_read.input_tokens',
  tokenModality: 'gen_ai.token.modality',

  httpMethod: 'http.request.method',
  httpMethodOriginal: 'http.request.method_original',
  httpRoute: 'http.route',
  httpStatus: 'http.response.status_code',
  httpResendCount: 'http.request.resend_count',
  serverAddress: 'server.address',
  serverPort: 'server.port',
  errorType: 'error.type',
  urlFull: 'url.full',
  urlPath: 'url.path',
  urlQuery: 'url.query',
  urlScheme: 'url.scheme',
  peerAddress: 'network.peer.address',
  peerPort: 'network.peer.port',
  protocolVersion: 'network.protocol.version',
  userAgent: 'user_agent.original',

  team: 'weir.team',
  priority: 'weir.priority',
  account: 'weir.account',
  requestId: 'weir.request.id',
  outcome: 'weir.outcome',
  errorCode: 'weir.error.code',
  attempts: 'weir.attempts',
  tokensEstimated: 'weir.tokens.estimated',
  tokensReserved: 'weir.tokens.reserved',
  tokensUsed: 'weir.tokens.used',
  tokensRefunded: 'weir.tokens.refunded',
  tokensRequested: 'weir.tokens.requested',
  clientTimeToFirstChunk: 'weir.time_to_first_chunk',
  depthAtEntry: 'weir.queue.depth_at_entry',
  waitResult: 'weir.wait.result',
  bucket: 'weir.bucket',
  bucketLevel: 'weir.bucket.level',
  dimension: 'weir.dimension',
  attemptNumber: 'weir.attempt.number',
  attemptOutcome: 'weir.attempt.outcome',
  attemptSent: 'weir.attempt.sent',
  throttleKind: 'weir.throttle.kind',
  retryAfterMs: 'weir.retry_after_ms',
  costUsd: 'weir.cost.usd',
  streamChunks: 'weir.stream.chunks',
  streamBytes: 'weir.stream.bytes',
  streamEnd: 'weir.stream.end',
  retryReason: 'weir.retry.reason',
  retryDelayMs: 'weir.retry.delay_ms',
  retrySource: 'weir.retry.source',
  retryResult: 'weir.retry.result',
  resumeNumber: 'weir.resume.number',
  resumeFromChunk: 'weir.resume.from_chunk',
  resumeResult: 'weir.resume.result',
  refundReason: 'weir.refund.reason',
  refundAmount: 'weir.refund.amount',
  shape: 'weir.shape',
  breakerState: 'weir.breaker.state',
  parkedReason: 'weir.parked.reason',
} as const;

/** Names of the spans that are not named after their route or model. */
export const SPANS = {
  queueWait: 'weir.queue.wait',
  acquire: 'weir.acquire',
  stream: 'weir.stream',
  retry: 'weir.retry',
  refund: 'weir.refund',
} as const;

/** How a request ended, as its caller saw it. */
export const OUTCOMES = [
  'ok',
  'client_throttled',
  'queue_timeout',
  'upstream_throttled',
  'upstream_error',
  'cancelled',
  'rejected',
  'internal_error',
] as const;
/** One of {@link OUTCOMES}. */
export type Outcome = (typeof OUTCOMES)[number];

/** How one call to a provider ended. */
export const ATTEMPT_OUTCOMES = ['ok', 'throttled', 'error', 'timeout', 'cancelled'] as const;
/** One of {@link ATTEMPT_OUTCOMES}. */
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

/** What an upstream 429 was about. `billing` and `daily` are never retried. */
export const THROTTLE_KINDS = [
  'requests',
  'tokens',
  'concurrency',
  'daily',
  'billing',
  'overloaded',
  'unknown',
] as const;
/** One of {@link THROTTLE_KINDS}. */
export type ThrottleKind = (typeof THROTTLE_KINDS)[number];

/** States of a circuit breaker. */
export const BREAKER_STATES = ['closed', 'open', 'half_open'] as const;

/** How a wait in the queue ended. */
export type WaitResult = 'granted' | 'timeout' | 'cancelled' | 'shed';

/** What became of an attempt to make a broken stream good. */
export type ResumeResult = 'joined' | 'diverged' | 'failed' | 'cancelled';

/** How the relay of a stream ended. */
export type StreamEnd = 'complete' | 'client_gone' | 'upstream_broken';
