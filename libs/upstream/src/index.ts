export type { UpstreamTimeouts } from './answer-intake.js';
export { classifyFailure, type Verdict } from './classify-failure.js';
export { waitHint } from './hints.js';
export { observeQuota, type ObservedQuota } from './observe-quota.js';
export type { ProfileId, ProviderProfile, QuotaHeader } from './profiles/profile.js';
export { profileOf } from './profiles/profiles.js';
export { readRefusal, type Headers, type Refusal, type RefusedAnswer } from './refusal.js';
export {
  StreamClient,
  type Frame,
  type ReportedUsage,
  type StreamReading,
  type UpstreamAnswer,
  type UpstreamRequest,
} from './stream-client.js';
export { UndiciStreamClient, type UpstreamAccount } from './undici-stream-client.js';
