import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import {
  abortReason,
  type Clock,
  type Milliseconds,
  type Timer,
  type Timers,
  type Tokens,
} from '@weir/kernel';
import type { CountRequest, TokenCounter } from '../token-counter.js';
import { PendingCount } from './pending-count.js';
import type { CountJob } from './tokenizer-worker.mjs';

/** Why counts came to nothing. It never says what was counted. */
export type CountTrouble = 'too_slow' | 'worker_failed' | 'queue_full';

/** What the counter works with. */
export interface WorkerTokenCounterParts {
  readonly time: Clock & Timers;
  /** Told once per failure, and once until a full queue is empty again. */
  readonly onTrouble: (trouble: CountTrouble) => void;
  /** Another program for the thread, for tests. */
  readonly program?: string;
}

/** Each may hold the text of a whole body. */
const MOST_WAITING = 8;
/** Three million tokens take 1.7 s; what takes longer is text for which a byte-pair tokenizer needs the square of its length. */
const LONGEST_COUNT_MS: Milliseconds = 6_000;
/** After a failure, so that neither a broken install nor hostile text takes more than a part of a core. */
const REST_MS: Milliseconds = 30_000;
/** A thread with a vocabulary keeps about 100 MB. */
const IDLE_MS: Milliseconds = 60_000;
/** Two vocabularies and the largest body fit. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 };
/** Beside this file, compiled or not. */
const PROGRAM = join(__dirname, `tokenizer-worker.m${extname(__filename).slice(1)}`);

/**
 * Counts in one thread, one prompt at a time, first come first served. The thread starts with the first count, ends after a
 * minute without any, and is ended where it takes too long; whoever waits then is told nothing, so its estimate stands.
 */
export class WorkerTokenCounter implements TokenCounter {
  private worker: Worker | undefined;
  private running: PendingCount | undefined;
  private waiting: PendingCount[] = [];
  private wasFull = false;
  /** Of the count that runs, or of the thread that has nothing to do. */
  private timer: Timer | undefined;
  private restsUntil: Milliseconds = -Infinity;

  constructor(private readonly parts: WorkerTokenCounterParts) {}

  /** Whether there is a thread. */
  get started(): boolean {
    return this.worker !== undefined;
  }

  async count(request: CountRequest, signal: AbortSignal): Promise<Tokens | undefined> {
    if (signal.aborted) throw abortReason(signal);
    if (this.parts.time.now() < this.restsUntil || this.isFull()) return undefined;
    const pending = new PendingCount(request, this.parts.time, signal);
    this.waiting.push(pending);
    if (this.running === undefined) this.next();
    return pending.tokens;
  }

  async close(): Promise<void> {
    await this.stop(Infinity);
  }

  private isFull(): boolean {
    this.waiting = this.waiting.filter(({ request }) => request !== undefined);
    const isFull = this.waiting.length >= MOST_WAITING;
    if (isFull && !this.wasFull) this.parts.onTrouble('queue_full');
    this.wasFull ||= isFull;
    return isFull;
  }

  /** What nobody waits for is not begun. What has begun goes on without its caller: to end it would cost a new thread. */
  private next(): void {
    this.timer?.cancel();
    this.running = this.waiting.shift();
    if (this.running === undefined) {
      this.wasFull = false;
      this.timer = this.parts.time.after(IDLE_MS, () => void this.stop());
    } else if (this.running.request === undefined) this.next();
    else this.begin(this.running.request);
  }

  private begin({ encoding, texts }: CountRequest): void {
    this.timer = this.parts.time.after(LONGEST_COUNT_MS, () => {
      this.fail('too_slow');
    });
    try {
      this.worker ??= this.start();
      this.worker.postMessage({ encoding, texts } satisfies CountJob);
    } catch {
      // Where no thread can be made any more.
      this.fail('worker_failed');
    }
  }

  private start(): Worker {
    // No option of the process, and no secret of its environment, is any of the thread's business.
    const options = { env: {}, execArgv: [], resourceLimits: RESOURCE_LIMITS };
    const worker = new Worker(this.parts.program ?? PROGRAM, options);
    const failed = (): void => {
      if (worker === this.worker) this.fail('worker_failed');
    };
    worker.on('message', (tokens: Tokens) => {
      if (worker !== this.worker) return;
      this.running?.end(tokens);
      this.next();
    });
    worker.on('error', failed).on('exit', failed);
    // After the listeners, which would hold the process again.
    worker.unref();
    return worker;
  }

  private fail(trouble: CountTrouble): void {
    this.parts.onTrouble(trouble);
    void this.stop(this.parts.time.now() + REST_MS);
  }

  private async stop(restsUntil: Milliseconds = -Infinity): Promise<void> {
    this.timer?.cancel();
    this.restsUntil = Math.max(this.restsUntil, restsUntil);
    const { worker, running, waiting } = this;
    this.worker = this.running = undefined;
    this.waiting = [];
    for (const pending of [running, ...waiting]) pending?.end(undefined);
    await worker?.terminate();
  }
}
