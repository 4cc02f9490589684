export type { UpstreamTimeouts } from './answer-intake.js';
export { observeQuota, type ObservedQuota } from './observe-quota.js';
export type { ProfileId, ProviderProfile, QuotaHeader } from './profiles/profile.js';
export { profileOf } from './profiles/profiles.js';
export {
  StreamClient,
  type Frame,
  type ReportedUsage,
  type Resume,
  type StreamReading,
  type UpstreamAnswer,
  type UpstreamRequest,
} from './stream-client.js';
export { UndiciStreamClient, type UpstreamAccount } from './undici-stream-client.js';
