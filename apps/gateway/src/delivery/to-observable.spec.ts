import { getEventListeners } from 'node:events';
import { settled } from '@weir/testing';
import { toObservable, type Offer } from './to-observable.js';

function subscribe<T>(open: (signal: AbortSignal) => AsyncIterable<T>, onOffer?: (offer: Offer<T>) => void) {
  const seen: unknown[] = [];
  const subscription = toObservable(open).subscribe({
    next: (offer) => {
      seen.push(offer.value);
      onOffer?.(offer);
    },
    error: (error: unknown) => seen.push(error),
    complete: () => seen.push('complete'),
  });
  return { seen, subscription };
}

describe('toObservable', () => {
  it('is cold: nothing runs before a subscriber comes, and each gets its own run', async () => {
    let runs = 0;
    const observable = toObservable(async function* () {
      runs += 1;
      yield runs;
    });
    await settled();
    expect(runs).toBe(0);
    observable.subscribe();
    observable.subscribe();
    await settled();
    expect(runs).toBe(2);
  });

  it('passes values, the end, and errors', async () => {
    const failure = new Error('broken');
    const { seen } = subscribe(async function* () {
      yield 1;
      yield 2;
      throw failure;
    });
    const ended = subscribe(async function* () {
      yield 'only';
    });
    await settled();
    expect(seen).toEqual([1, 2, failure]);
    expect(ended.seen).toEqual(['only', 'complete']);
  });

  it('reports an iterable that cannot even be opened', async () => {
    const failure = new Error('refused');
    const { seen } = subscribe(() => {
      throw failure;
    });
    await settled();
    expect(seen).toEqual([failure]);
  });

  it('asks for no value while held', async () => {
    let produced = 0;
    let release: () => void = () => undefined;
    const { seen } = subscribe(
      async function* () {
        for (; produced < 3; produced += 1) yield produced;
      },
      (offer) => {
        if (offer.value === 1) offer.hold(new Promise((resolve) => (release = resolve)));
      },
    );
    await settled();
    expect(seen).toEqual([0, 1]);
    expect(produced).toBe(1);
    release();
    await settled();
    expect(seen).toEqual([0, 1, 2, 'complete']);
  });

  it('aborts a silent source at once when the subscriber leaves, and runs its finally', async () => {
    let finished = false;
    let seenSignal: AbortSignal | undefined;
    const { seen, subscription } = subscribe(async function* (signal) {
      seenSignal = signal;
      try {
        await new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            reject(signal.reason as Error);
          });
        });
        yield 'never';
      } finally {
        finished = true;
      }
    });
    await settled();
    subscription.unsubscribe();
    await settled();
    expect(finished).toBe(true);
    expect(seenSignal?.aborted).toBe(true);
    expect(seen).toEqual([]);
  });

  it('stops a source that is held when the subscriber leaves', async () => {
    let finished = false;
    const { subscription } = subscribe(
      async function* () {
        try {
          for (let n = 0; ; n += 1) yield n;
        } finally {
          finished = true;
        }
      },
      (offer) => {
        offer.hold(gone);
      },
    );
    let leave: () => void = () => undefined;
    const gone = new Promise<void>((resolve) => (leave = resolve));
    await settled();
    subscription.unsubscribe();
    leave();
    await settled();
    expect(finished).toBe(true);
  });

  it('leaves no listener on its signal after the end', async () => {
    let seenSignal: AbortSignal | undefined;
    subscribe(async function* (signal) {
      seenSignal = signal;
      yield 1;
    });
    await settled();
    expect(seenSignal && getEventListeners(seenSignal, 'abort')).toHaveLength(0);
  });
});
