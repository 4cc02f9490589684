import type { Milliseconds, Timers } from '@weir/kernel';
import { encodeSseComment } from '@weir/protocol';
import type { AnswerHead, Outgoing } from '../delivery/outgoing.js';

/** How a silent wait is filled. */
export interface Patience<T> {
  readonly timers: Timers;
  /** When the first sign of life is due, and how often one follows. */
  readonly firstMs: Milliseconds;
  readonly everyMs: Milliseconds;
  /** The first sign of life, where the answer has no head yet. */
  readonly opening?: AnswerHead;
  /** Gets what the work brought when nobody is left to take it. */
  readonly abandon?: (value: T) => void;
}

/** Balancers and SDKs cut connections that are silent for a minute, some for half of one. */
export const WAITING_EVERY_MS: Milliseconds = 10_000;

const WAITING = { bytes: encodeSseComment(['waiting']), visible: false } as const;

/**
 * Waits for the work, and yields a comment now and then meanwhile. Returns what the work brings.
 * A reader who leaves is held until the work has ended, so that nothing of it is lost: abort the work first.
 */
export async function* whileWaiting<T>(work: Promise<T>, patience: Patience<T>): AsyncGenerator<Outgoing, T> {
  const { timers, everyMs, opening, abandon } = patience;
  const over = work.then(
    () => true,
    () => true,
  );
  let taken = false;
  let waitMs = patience.firstMs;
  let head = opening;
  try {
    for (;;) {
      if (await within(waitMs, over, timers)) {
        taken = true;
        return await work;
      }
      if (head !== undefined) yield head;
      head = undefined;
      // A head alone stays in Node's hands until the first byte of a body.
      yield WAITING;
      waitMs = everyMs;
    }
  } finally {
    if (!taken) await work.then(abandon, () => undefined);
  }
}

async function within(ms: Milliseconds, over: Promise<boolean>, timers: Timers): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = timers.after(ms, () => {
    resolve(false);
  });
  const isOver = await Promise.race([over, promise]);
  timer.cancel();
  return isOver;
}
