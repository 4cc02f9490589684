export {
  Limiter,
  type Ask,
  type Cost,
  type DimensionStatus,
  type DimensionUnit,
  type Ending,
  type FlowStatus,
  type LimiterCall,
  type LimiterStatus,
  type Permit,
  type QuotaLevel,
  type QuotaObservation,
  type QuotaView,
  type Refund,
  type RefundReason,
  type Turn,
  type Usage,
} from './limiter.js';
export { createDimension, type DimensionOptions } from './quota/create-dimension.js';
export type { Dimension, DimensionSpec, Shape } from './quota/dimension.js';
export { createLimiter, type LimiterOptions } from './create-limiter.js';
export { PacedLimiter, type PacedLimiterParts, type QueueBounds } from './paced-limiter.js';
export {
  TokenEstimator,
  type EstimatorOptions,
  type Outcome,
  type ReserveRequest,
} from './estimate/token-estimator.js';
export type { LargestCost, OutputLength, ReservationRule } from './estimate/reservation.js';
export { fitsAnyway, isInDoubt, type RouteRoom } from './estimate/doubt.js';
export { TokenCounter, type CountRequest } from './estimate/token-counter.js';
export { vocabularyOf, type Encoding } from './estimate/vocabulary.js';
export { WorkerTokenCounter, type CountTrouble } from './estimate/exact/worker-token-counter.js';
export { aged, type DimensionState, type RestorableDimension } from './quota/dimension-state.js';
export type { LimiterSnapshot } from './limiter-snapshot.js';
