import { abortReason, type Timers, type Tokens } from '@weir/kernel';
import type { CountRequest } from '../token-counter.js';

/** A count that somebody waits for: until it comes, or is of no use any more, or its caller leaves. */
export class PendingCount {
  readonly tokens: Promise<Tokens | undefined>;
  /** It comes to this. Later calls change nothing. */
  readonly end: (tokens: Tokens | undefined) => void;
  private wanted: CountRequest | undefined;

  constructor(request: CountRequest, timers: Timers, signal: AbortSignal) {
    const { promise, resolve, reject } = Promise.withResolvers<Tokens | undefined>();
    const leave = (): void => {
      this.wanted = undefined;
      patience.cancel();
      signal.removeEventListener('abort', onAbort);
    };
    const onAbort = (): void => {
      leave();
      reject(abortReason(signal));
    };
    this.wanted = request;
    this.tokens = promise;
    this.end = (tokens) => {
      leave();
      resolve(tokens);
    };
    const patience = timers.after(request.withinMs, () => {
      this.end(undefined);
    });
    signal.addEventListener('abort', onAbort, { once: true });
  }

  /** What is to be counted; undefined, and no longer held, once nobody waits. */
  get request(): CountRequest | undefined {
    return this.wanted;
  }
}
