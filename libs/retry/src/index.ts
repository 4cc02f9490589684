export { AttemptLoop, type Attempt, type RetryableCall, type RetryPolicy } from './attempt-loop.js';
export { DEFAULT_BACKOFF, fullJitter, type BackoffPolicy } from './backoff.js';
export { DEFAULT_BUDGET, RetryBudget, type RetryBudgetPolicy } from './retry-budget.js';
export { RetryObserver, silentObserver, type RetryDecision } from './retry-observer.js';
