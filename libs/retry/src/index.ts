export { AdaptiveSlots } from './adaptive-slots.js';
export {
  AttemptLoop,
  type Attempt,
  type Course,
  type FailedAttempt,
  type RetryableCall,
  type RetryPolicy,
} from './attempt-loop.js';
export { DEFAULT_BACKOFF, fullJitter, type BackoffPolicy } from './backoff.js';
export { CircuitBreaker, type BreakerPolicy, type BreakerState, type Passage } from './circuit-breaker.js';
export { isBreakdown, isOverload, isThrottle } from './failure-meaning.js';
export { ParkingLot, type Parked } from './parking-lot.js';
export { DEFAULT_BUDGET, RetryBudget, type RetryBudgetPolicy } from './retry-budget.js';
export { RetryObserver, silentObserver, type RetryDecision } from './retry-observer.js';
