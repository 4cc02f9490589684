import { GatewayError, type Milliseconds, type Target } from '@weir/kernel';

/** What a caller is told to wait where only a person can help. */
const NOBODY_KNOWS_MS: Milliseconds = 60_000;

/** A target as a key of maps and as people write it. */
export function keyOf({ account, model }: Target): string {
  return `${account}/${model}`;
}

/** Every target of the route is out of money or quota, or its key is refused. */
export function accountParked(forMs: Milliseconds): GatewayError {
  const known = Number.isFinite(forMs);
  return new GatewayError(
    'account_parked',
    known
      ? `Every provider account for this model has spent its quota. The first is used again in ${Math.ceil(forMs / 1000)} s.`
      : 'Every provider account for this model is parked (quota spent, or key refused) until a person acts. Ask the operator.',
    { hintMs: known ? Math.max(1, forMs) : NOBODY_KNOWS_MS },
  );
}

/** The targets fail too often to be asked now, and their next probe comes too late for this caller. */
export function circuitOpen(forMs: Milliseconds): GatewayError {
  return new GatewayError(
    'circuit_open',
    'The provider fails too often and is left alone for a while. Retry after the time given.',
    { hintMs: Math.max(1, forMs) },
  );
}
