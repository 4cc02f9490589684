import type { Timers } from './clock.js';
import type { Milliseconds } from './units.js';

/**
 * Waits, and leaves neither a timer nor a listener behind, however it ends.
 * @param delayMs time to wait; zero or less still yields once
 * @param signal  ends the wait at once; the promise then rejects with the signal's reason
 */
export function sleep(delayMs: Milliseconds, timers: Timers, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(abortReason(signal));
      return;
    }
    const onAbort = (): void => {
      timer.cancel();
      reject(abortReason(signal));
    };
    const timer = timers.after(delayMs, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** A controller that follows a parent, and lets go of it. */
export interface LinkedAbort {
  readonly signal: AbortSignal;
  abort(reason: Error): void;
  /** Stops following the parent. Idempotent; call it in a `finally`, or the parent keeps a listener. */
  unlink(): void;
}

/**
 * Makes a signal that aborts with its parent or by itself.
 * `AbortSignal.any` is not used: its result cannot be detached from a long-lived parent.
 */
export function linkAbort(parent: AbortSignal): LinkedAbort {
  const controller = new AbortController();
  const follow = (): void => {
    controller.abort(parent.reason);
  };
  if (parent.aborted) follow();
  else parent.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    abort: (reason) => {
      controller.abort(reason);
    },
    unlink: () => {
      parent.removeEventListener('abort', follow);
    },
  };
}

/** The reason of an aborted signal, always an Error. */
export function abortReason(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}
