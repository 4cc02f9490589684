export { ConfigSource, type Reload } from './config-source.js';
export { editorSchema } from './editor-schema.js';
export type { Environment } from './environment.js';
export { ConfigFaults, formatFault, type Fault } from './fault.js';
export { fieldTables } from './field-tables.js';
export {
  PROFILE_NAMES,
  type AccountConfig,
  type AdminConfig,
  type BreakerConfig,
  type DimensionLimit,
  type DisconnectPolicy,
  type GatewayConfig,
  type MidStreamPolicy,
  type ModelConfig,
  type PriceConfig,
  type ProfileName,
  type QueueConfig,
  type RetryConfig,
  type RouteConfig,
  type ServerConfig,
  type StoreConfig,
  type TeamConfig,
  type TimeoutsConfig,
  type WindowShape,
} from './gateway-config.js';
export { digestKey, type KeyDigest } from './key-digest.js';
export { loadConfig, type LoadOptions, type ReadFile } from './load-config.js';
export { restartsNeeded } from './live-changes.js';
export { Secret } from './secret.js';
export { NOT_BUILT_YET, type Unsupported } from './unsupported.js';
