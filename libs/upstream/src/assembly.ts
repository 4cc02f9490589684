import type { Fault } from './fault.js';
import type { Frame } from './stream-client.js';

/**
 * Makes frames, or one fault, out of the bytes of one body. The first of `complete` and `fault` is the end:
 * nothing that is pushed afterwards counts.
 */
export interface Assembly {
  push(chunk: Buffer): void;
  /** The body ended as HTTP says it should. */
  end(): void;
  /** The body broke, or waiting longer for it makes no sense. */
  cut(cause?: unknown): void;
  /** Bytes that came and are in no frame yet. */
  readonly pendingBytes: number;
}

/** Where an assembly puts what it made. */
export interface AssemblyOutput {
  frame(frame: Frame): void;
  /** Something other than a keep-alive came: the provider works. */
  alive(): void;
  /** Nothing is missing any more, though more may follow. `isLast` where nothing should follow either. */
  finished(isLast: boolean): void;
  complete(): void;
  fault(fault: Fault): void;
}
