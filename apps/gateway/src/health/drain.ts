import { GatewayError, sleep, type Milliseconds, type Timers } from '@weir/kernel';
import type { OpenAnswers } from '../delivery/open-answers.js';

/** When callers of a draining replica are told to come back; a restart or another replica takes them. */
const RETRY_AFTER_MS: Milliseconds = 2000;

/** The end of a replica's life: new work is refused, running streams may end, up to a limit. */
export class Drain {
  private began = false;

  constructor(
    private readonly answers: OpenAnswers,
    private readonly timers: Timers,
    private readonly onBegin: () => void,
  ) {}

  /** True from the moment that new work is refused. */
  get draining(): boolean {
    return this.began;
  }

  /** @throws GatewayError `draining` once the drain began */
  assertOpen(): void {
    if (!this.began) return;
    throw new GatewayError(
      'draining',
      'This replica is shutting down. Retry: another replica will take the request.',
      {
        hintMs: RETRY_AFTER_MS,
      },
    );
  }

  /**
   * Refuses new work and every waiter, then waits until no answer is open.
   * @param limitMs the longest wait; what still runs then is cut by the shutdown that follows
   * @returns whether everything ended by itself
   */
  async begin(limitMs: Milliseconds): Promise<boolean> {
    if (!this.began) {
      this.began = true;
      this.onBegin();
    }
    const timeout = new AbortController();
    const cut = sleep(limitMs, this.timers, timeout.signal).then(
      () => false,
      () => true,
    );
    const ended = await Promise.race([this.answers.whenIdle().then(() => true), cut]);
    timeout.abort();
    return ended;
  }
}
