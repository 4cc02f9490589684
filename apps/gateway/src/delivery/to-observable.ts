import { GatewayError } from '@weir/kernel';
import { Observable, type Subscriber } from 'rxjs';

/** A value on its way out. */
export interface Offer<T> {
  readonly value: T;
  /**
   * Called synchronously by the receiver when it cannot take more: the producer is not asked for the next value
   * before `until` settles. Observables have no back-pressure of their own; this is ours.
   */
  readonly hold: (until: Promise<void>) => void;
}

/**
 * An AsyncIterable as a cold Observable. Nothing runs before it is subscribed to; its teardown aborts the signal.
 * RxJS's own `from(asyncIterable)` looks at `closed` only after the next value, so a silent provider would be kept
 * open for a caller who has left.
 * @param ended called once per subscription when the iterable is done with, its `finally` included: with nothing when
 * the answer was whole, else with what was thrown or with the abort's reason
 */
export function toObservable<T>(
  open: (signal: AbortSignal) => AsyncIterable<T>,
  ended: (thrown?: unknown) => void = () => undefined,
): Observable<Offer<T>> {
  return new Observable((subscriber) => {
    const run: Run = { controller: new AbortController(), isOver: false };
    void pump(open, run, subscriber).then(ended);
    return () => {
      // The teardown also follows a whole answer: nobody listens any more then, and errors and events are dear.
      if (!run.isOver) run.controller.abort(callerLeft());
    };
  });
}

interface Run {
  readonly controller: AbortController;
  /** The iterable has ended. */
  isOver: boolean;
}

function callerLeft(): GatewayError {
  return new GatewayError('client_disconnected', 'The caller left before the answer was complete.');
}

/** Never rejects. Resolves with what was thrown, or with the reason of an abort. */
async function pump<T>(
  open: (signal: AbortSignal) => AsyncIterable<T>,
  run: Run,
  subscriber: Subscriber<Offer<T>>,
): Promise<unknown> {
  const { signal } = run.controller;
  const holds: Promise<void>[] = [];
  const hold = (until: Promise<void>): void => {
    holds.push(until);
  };
  try {
    for await (const value of open(signal)) {
      subscriber.next({ value, hold });
      if (holds.length > 0) await Promise.all(holds.splice(0));
      if (signal.aborted) return signal.reason;
    }
    run.isOver = true;
    subscriber.complete();
    return undefined;
  } catch (thrown) {
    run.isOver = true;
    const cause: unknown = signal.aborted ? signal.reason : thrown;
    subscriber.error(thrown);
    return cause;
  }
}
