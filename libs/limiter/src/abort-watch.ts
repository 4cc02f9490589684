import { abortReason } from '@weir/kernel';

/** Somebody who waits under a signal. */
export interface Abortable {
  readonly signal: AbortSignal;
  abandon(reason: Error): void;
}

/**
 * One listener for each signal, however many wait under it: a listener of one's own would make the hundredth waiter
 * under one signal pay for the other ninety-nine, because a signal looks through its listeners at each new one.
 */
export class AbortWatch {
  private readonly bySignal = new Map<AbortSignal, Watched>();

  add(waiter: Abortable): void {
    const watched = this.bySignal.get(waiter.signal);
    if (watched) {
      watched.add(waiter);
      return;
    }
    this.bySignal.set(waiter.signal, new Watched(waiter));
  }

  remove(waiter: Abortable): void {
    if (this.bySignal.get(waiter.signal)?.remove(waiter)) this.bySignal.delete(waiter.signal);
  }
}

/** Those who wait under one signal. Most signals have one. */
class Watched {
  private others: Set<Abortable> | undefined;

  constructor(private first: Abortable | undefined) {
    first?.signal.addEventListener('abort', this);
  }

  add(waiter: Abortable): void {
    this.others ??= new Set();
    this.others.add(waiter);
  }

  /** @returns whether nobody is left; then nothing is left on the signal either */
  remove(waiter: Abortable): boolean {
    if (this.first === waiter) this.first = undefined;
    else this.others?.delete(waiter);
    if (this.first || this.others?.size) return false;
    waiter.signal.removeEventListener('abort', this);
    return true;
  }

  /** The signal was aborted. */
  handleEvent(): void {
    for (const waiter of [this.first, ...(this.others ?? [])]) waiter?.abandon(abortReason(waiter.signal));
  }
}
