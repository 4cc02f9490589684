import { GatewayError } from '@weir/kernel';
import type { Frame } from './stream-client.js';

/** Above this many bytes that the reader is not done with the provider is asked to wait. */
export const HIGH_WATER_BYTES = 64 * 1024;
/** Below this many it may go on. */
const LOW_WATER_BYTES = HIGH_WATER_BYTES / 2;

/** Frames are joined up to this many bytes; a larger one stays alone. */
const JOINED_BYTES = 16 * 1024;

/** How the queue slows its source down and tells it that nobody listens any more. */
export interface FrameSource {
  pause(): void;
  resume(): void;
  /** The reader left before the end. */
  abandoned(): void;
  /**
   * Called once, when the reader is done: with nothing where it had everything, with the failure that it is told of, or with
   * `client_disconnected` where it left.
   */
  over(thrown?: Error): void;
}

type Outcome =
  | { readonly kind: 'running' }
  | { readonly kind: 'ended' }
  | { readonly kind: 'failed'; readonly error: Error };

interface Waiter {
  readonly resolve: (result: IteratorResult<Frame>) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Frames between the socket and one reader, bounded: a slow reader stops the socket, not the process. A frame counts
 * until the reader asks for the next one, as until then it may still wait for the caller: so no more is held than
 * `HIGH_WATER_BYTES` and the event that went over it, however large events are.
 * What came before a failure is still handed out, then the failure is thrown.
 */
export class FrameQueue implements AsyncIterableIterator<Frame> {
  private frames: Frame[] = [];
  private head = 0;
  private queuedBytes = 0;
  /** Of the frame that the reader took last and is not done with. */
  private takenBytes = 0;
  private paused = false;
  private outcome: Outcome = { kind: 'running' };
  private waiter: Waiter | undefined;
  private isOver = false;

  /** @param joins hand out as one what is there together */
  constructor(
    private readonly source: FrameSource,
    private readonly joins = false,
  ) {}

  /** Bytes that came and were not taken yet; what was taken, the reader's own buffers count. */
  get bytes(): number {
    return this.queuedBytes;
  }

  push(frame: Frame): void {
    const { waiter } = this;
    if (waiter) {
      this.waiter = undefined;
      this.takenBytes = frame.bytes.byteLength;
      waiter.resolve({ value: frame, done: false });
    } else {
      this.frames.push(frame);
      this.queuedBytes += frame.bytes.byteLength;
    }
    if (this.paused || this.queuedBytes + this.takenBytes <= HIGH_WATER_BYTES) return;
    this.paused = true;
    this.source.pause();
  }

  end(): void {
    this.settle({ kind: 'ended' });
  }

  fail(error: Error): void {
    this.settle({ kind: 'failed', error });
  }

  /** Fails at once, also where only the reader is not done yet: what is queued is thrown away. */
  abort(error: Error): void {
    if (this.isOver) return;
    this.clear();
    if (this.outcome.kind === 'running') this.settle({ kind: 'failed', error });
    else this.outcome = { kind: 'failed', error };
    this.over(error);
  }

  next(): Promise<IteratorResult<Frame>> {
    this.release();
    const frame = this.frames[this.head];
    if (frame)
      return Promise.resolve({ value: this.joins ? this.joined(frame) : this.take(frame), done: false });
    if (this.outcome.kind === 'ended') {
      this.over();
      return Promise.resolve({ value: undefined, done: true });
    }
    if (this.outcome.kind === 'failed') {
      this.over(this.outcome.error);
      return Promise.reject(this.outcome.error);
    }
    return new Promise((resolve, reject) => {
      this.waiter = { resolve, reject };
    });
  }

  return(): Promise<IteratorResult<Frame>> {
    this.clear();
    if (this.outcome.kind === 'running') this.source.abandoned();
    if (!this.isOver) this.over(new GatewayError('client_disconnected', 'The reader left.'));
    this.settle({ kind: 'ended' });
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  private take(frame: Frame): Frame {
    this.head += 1;
    this.takenBytes = frame.bytes.byteLength;
    this.queuedBytes -= this.takenBytes;
    if (this.head === this.frames.length) {
      this.frames = [];
      this.head = 0;
    }
    return frame;
  }

  /** The reader is done with what it took. */
  private release(): void {
    this.takenBytes = 0;
    if (!this.paused || this.queuedBytes >= LOW_WATER_BYTES) return;
    this.paused = false;
    this.source.resume();
  }

  /** Takes whatever came together. */
  private joined(first: Frame): Frame {
    let { byteLength } = this.take(first).bytes;
    let { visible } = first;
    const pieces = [first.bytes];
    for (;;) {
      const next = this.frames[this.head];
      if (next === undefined || byteLength + next.bytes.byteLength > JOINED_BYTES) break;
      pieces.push(this.take(next).bytes);
      byteLength += next.bytes.byteLength;
      visible ||= next.visible;
    }
    this.takenBytes = byteLength;
    return pieces.length === 1 ? first : { bytes: Buffer.concat(pieces, byteLength), visible };
  }

  private clear(): void {
    this.frames = [];
    this.head = 0;
    this.queuedBytes = 0;
    this.takenBytes = 0;
  }

  private settle(outcome: Outcome): void {
    if (this.outcome.kind !== 'running') return;
    this.outcome = outcome;
    const { waiter } = this;
    if (waiter === undefined) return;
    this.waiter = undefined;
    if (outcome.kind === 'failed') waiter.reject(outcome.error);
    else waiter.resolve({ value: undefined, done: true });
    this.over(outcome.kind === 'failed' ? outcome.error : undefined);
  }

  private over(thrown?: Error): void {
    if (this.isOver) return;
    this.isOver = true;
    this.source.over(thrown);
  }
}
