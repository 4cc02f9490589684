import type { Clock, Milliseconds, Timers } from '@weir/kernel';
import type { AnswerHead, Outgoing } from '../delivery/outgoing.js';
import type { ChatCall } from './chat-call.js';
import { WAITING_EVERY_MS, whileWaiting } from './while-waiting.js';

/** A 200 before anything is known: the price of not being cut off by a balancer. */
const EARLY_HEAD: AnswerHead = {
  kind: 'head',
  status: 200,
  contentType: 'text/event-stream',
  contentLength: undefined,
  headers: {},
  early: true,
  source: { bufferedBytes: 0 },
};

/**
 * Keeps a streaming caller's connection alive while its request waits (`server.earlyOpenAfterMs`). Nothing visible was
 * delivered by that, so attempts go on as before; but what would have been a status or a header is in-band from then on.
 */
export class EarlyOpen {
  /** @param afterMs how long after its arrival a caller is given its 200; 0 never */
  constructor(
    private readonly afterMs: () => Milliseconds,
    private readonly time: Clock & Timers,
  ) {}

  /**
   * Waits for the work; yields a head and comments meanwhile where that takes long.
   * @param abandon gets what the work brought where the caller has left
   */
  async *until<T>(
    call: ChatCall,
    work: Promise<T>,
    abandon: (value: T) => void,
  ): AsyncGenerator<Outgoing, T> {
    const afterMs = this.afterMs();
    if (afterMs === 0 || !call.request.stream) return await work;
    const firstMs = Math.max(0, call.arrivedAt + afterMs - this.time.now());
    const patience = { timers: this.time, firstMs, everyMs: WAITING_EVERY_MS, opening: EARLY_HEAD, abandon };
    return yield* whileWaiting(work, patience);
  }
}
