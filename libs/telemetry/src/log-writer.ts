import type { Clock, Milliseconds, Timer, Timers } from '@weir/kernel';
import { write, writeSync } from 'node:fs';
import type { LineSink } from './line-batch.js';

/** How long until what could not be written is tried again. */
const PAUSE_MS: Milliseconds = 100;
/** Where nothing was taken for longer than this, the end of the process does not wait for it either. */
const STUCK_MS: Milliseconds = 1_000;
/** How often, and after what pause, the last lines are offered to a reader that is slow. */
const LAST_TRIES = 100;
const LAST_PAUSE_MS: Milliseconds = 10;

/** What a writer needs. */
export interface LogWriterOptions {
  /** Such as 1, standard output. */
  readonly fd: number;
  /** What may wait, in bytes: beyond it lines are lost, and not memory. */
  readonly heldBytes: number;
  /** Told how many lines were lost as soon as all the others are written. */
  readonly onLost: (lines: number) => void;
  readonly time: Clock & Timers;
}

/**
 * Writes lines, and outlives whatever becomes of them. Not `pino.destination`: it holds without bound, a full disk is an
 * error event that ends the process, and its end then tries for ever (sonic-boom 5, 2026-11).
 */
export class LogWriter implements LineSink {
  private readonly queue: Buffer[] = [];
  /** Where the first of the queue goes on. */
  private offset = 0;
  private held = 0;
  private lost = 0;
  private state: 'idle' | 'writing' | 'pausing' | 'over' = 'idle';
  private movedAt: Milliseconds = 0;
  private pause: Timer | undefined;

  constructor(private readonly options: LogWriterOptions) {}

  write(lines: string): void {
    if (this.state === 'over') return;
    const bytes = Buffer.from(lines);
    if (this.held + bytes.length > this.options.heldBytes) {
      this.lost += lines.split('\n').length - 1;
      return;
    }
    this.held += bytes.length;
    this.queue.push(bytes);
    if (this.state !== 'idle') return;
    this.movedAt = this.options.time.now();
    this.goOn();
  }

  /**
   * Writes what is left while the process ends, if somebody takes it; later lines are dropped.
   * @param flush hands over what others still hold
   */
  end(flush: () => void = () => undefined): void {
    const { state, queue, options } = this;
    if (state === 'over') return;
    this.pause?.cancel();
    const isStuck = queue.length > 0 && options.time.now() - this.movedAt > STUCK_MS;
    this.state = 'pausing';
    flush();
    this.state = 'over';
    if (isStuck) return;
    // What is under way is with the system already.
    if (state === 'writing') this.next();
    for (let tries = 0; queue.length > 0 && tries < LAST_TRIES; tries += 1) {
      if (!this.wroteAll()) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LAST_PAUSE_MS);
    }
  }

  /** @returns whether nothing is left: written, or given up */
  private wroteAll(): boolean {
    const { queue, options } = this;
    try {
      while (queue[0] !== undefined) this.wrote(writeSync(options.fd, queue[0], this.offset));
    } catch (thrown) {
      if (isSlow(thrown)) return false;
      // A disk that is full, or a reader that is gone: nobody is left to tell.
      queue.length = 0;
    }
    return true;
  }

  private goOn(): void {
    const [first] = this.queue;
    if (first === undefined) {
      this.state = 'idle';
      const { lost } = this;
      this.lost = 0;
      if (lost > 0) this.options.onLost(lost);
      return;
    }
    this.state = 'writing';
    write(this.options.fd, first, this.offset, (error, written) => {
      if (this.state === 'over') return;
      if (error === null) {
        this.wrote(written);
        this.goOn();
      } else this.failed(error);
    });
  }

  private wrote(bytes: number): void {
    this.offset += bytes;
    this.movedAt = this.options.time.now();
    if (this.offset >= (this.queue[0]?.length ?? 0)) this.next();
  }

  private next(): void {
    this.held -= this.queue.shift()?.length ?? 0;
    this.offset = 0;
  }

  /** Whatever it is may pass, such as a full disk, but a reader that is gone does not come back. */
  private failed({ code }: NodeJS.ErrnoException): void {
    if (code === 'EPIPE') {
      this.state = 'over';
      this.queue.length = 0;
      return;
    }
    this.state = 'pausing';
    this.pause = this.options.time.after(PAUSE_MS, () => {
      this.goOn();
    });
  }
}

function isSlow(thrown: unknown): boolean {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return false;
  return thrown.code === 'EAGAIN' || thrown.code === 'EBUSY';
}
