import { abortReason } from '@weir/kernel';

/** Somebody who waits, perhaps under a signal. */
export interface Abortable {
  readonly signal: AbortSignal | undefined;
  abandon(reason: Error): void;
}

/**
 * One listener for each signal, however many wait under it: a listener of one's own would make the hundredth waiter
 * under one signal pay for the other ninety-nine, because a signal looks through its listeners at each new one.
 */
export class AbortWatch {
  private readonly bySignal = new Map<AbortSignal, Watched>();

  add(waiter: Abortable): void {
    const { signal } = waiter;
    if (signal === undefined) return;
    const watched = this.bySignal.get(signal);
    if (watched) watched.add(waiter);
    else this.bySignal.set(signal, new Watched(signal, waiter));
  }

  remove(waiter: Abortable): void {
    const { signal } = waiter;
    if (signal !== undefined && this.bySignal.get(signal)?.remove(waiter)) this.bySignal.delete(signal);
  }
}

/** Those who wait under one signal. Most signals have one. */
class Watched {
  private others: Set<Abortable> | undefined;

  constructor(
    private readonly signal: AbortSignal,
    private first: Abortable | undefined,
  ) {
    signal.addEventListener('abort', this);
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
    this.signal.removeEventListener('abort', this);
    return true;
  }

  /** The signal was aborted. */
  handleEvent(): void {
    for (const waiter of [this.first, ...(this.others ?? [])]) waiter?.abandon(abortReason(this.signal));
  }
}
