import type { Milliseconds, Tokens } from '@weir/kernel';
import type { Encoding } from './vocabulary.js';

/** One count that somebody waits for. */
export interface CountRequest {
  /** Each is tokenized for itself. They leave the process's memory for nowhere, and reach no log. */
  readonly texts: readonly string[];
  readonly encoding: Encoding;
  /** How long the answer is of use. */
  readonly withinMs: Milliseconds;
}

/** Counts tokens as a tokenizer does. That costs more than the rest of a request, so nobody asks whom an estimate can answer. */
export interface TokenCounter {
  /**
   * Tokens of all texts, or undefined where nobody could count them in time: then the estimate stands.
   * @param signal ends the wait at once; the promise then rejects with its reason
   */
  count(request: CountRequest, signal: AbortSignal): Promise<Tokens | undefined>;
  /** Ends whatever runs. Who waits gets undefined, and so does who comes later. Idempotent. */
  close(): Promise<void>;
}

/** Injection token of the port. */
export const TokenCounter = Symbol('TokenCounter');
