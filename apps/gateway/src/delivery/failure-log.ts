/** Where faults of our own are told: the only errors whose cause an operator needs and a caller must not see. */
export interface FailureLog {
  unexpected(requestId: string, thrown: unknown): void;
}

/** Injection token of the port. */
export const FailureLog = Symbol('FailureLog');
