export { abortReason, linkAbort, sleep, type LinkedAbort } from './abort.js';
export type { CallIdentity, Priority, Target } from './call-identity.js';
export { MAX_TIMER_MS, systemClock, systemTimers, type Clock, type Timer, type Timers } from './clock.js';
export {
  ERRORS,
  GatewayError,
  toGatewayError,
  type CallsMade,
  type ErrorCode,
  type FailureClass,
  type GatewayErrorDetail,
  type Origin,
  type PassThrough,
  type TimeoutPhase,
} from './gateway-error.js';
export { seededRandom, systemRandom, type Random } from './random.js';
export { Roster, type Stay } from './roster.js';
export type { EpochMilliseconds, Milliseconds, Tokens } from './units.js';
