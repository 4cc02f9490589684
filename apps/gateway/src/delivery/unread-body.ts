import type { IncomingMessage } from 'node:http';
import { systemTimers, type Milliseconds, type Timers } from '@weir/kernel';

/** The longest that a body which nobody wants is read on for. */
const PATIENCE_MS: Milliseconds = 5000;

/**
 * Settles once the rest of a body was read and thrown away, or after a while. An answer that leaves before that closes
 * a socket with unread bytes in it: the kernel then resets the connection, and the caller sees a broken pipe, no 413.
 */
export function whenDiscarded(request: IncomingMessage, timers: Timers = systemTimers): Promise<void> {
  if (request.complete || request.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      timer.cancel();
      request.off('end', done);
      request.off('close', done);
      resolve();
    };
    const timer = timers.after(PATIENCE_MS, done);
    request.on('end', done);
    request.on('close', done);
    request.resume();
  });
}
