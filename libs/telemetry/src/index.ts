export type { HealthReading } from './health-metrics.js';
export { createLogger, type LogFields, type Logger, type LoggerOptions } from './logger.js';
export type { ConfiguredLabels } from './label-guard.js';
export { METRICS, prometheusLabel, prometheusName, type MetricDescription } from './metric-names.js';
export {
  ATTEMPT_OUTCOMES,
  ATTRIBUTES,
  BREAKER_STATES,
  OUTCOMES,
  SPANS,
  THROTTLE_KINDS,
  type AttemptOutcome,
  type Outcome,
  type StreamEnd,
  type ThrottleKind,
  type WaitResult,
} from './names.js';
export { PROMETHEUS_CONTENT_TYPE } from './prometheus-text.js';
export type { AccountLabels, ModelLabels } from './request-trace.js';
export { UNTRACED, type RequestSpan } from './server-span.js';
export type { SpanSink } from './span-recorder.js';
export { startTelemetry, type Telemetry, type TelemetryOptions } from './start-telemetry.js';
