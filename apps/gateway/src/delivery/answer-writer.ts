import type { ServerResponse } from 'node:http';
import type { GatewayError } from '@weir/kernel';
import { encodeErrorEvent, encodeSseComment } from '@weir/protocol';
import type { AnswerHead } from './outgoing.js';
import { refusalHeaders } from './refusal.js';

/** More than this is not gathered before it is written. */
const GATHERED_BYTES = 16 * 1024;

/**
 * Writes one answer to its socket. Until `start` nothing has left, so every error can still be a status;
 * after it an error is an in-band `error` event and the stream ends without `[DONE]`.
 */
export class AnswerWriter {
  private state: 'waiting' | 'started' | 'ended' = 'waiting';
  /** Whether the caller knows what heads tell: which account, how many attempts. */
  private told = false;
  private source: AnswerHead['source'] | undefined;
  private waitingForDrain: Promise<void> | undefined;
  /** Frames that came in one go, and leave in one write: providers send several at a time, and every write is dear. */
  private gathered: Uint8Array[] = [];
  private gatheredBytes = 0;

  constructor(private readonly response: ServerResponse) {}

  /** Whether the commit point has passed. */
  get started(): boolean {
    return this.state !== 'waiting';
  }

  /** Bytes in user space for this answer: read and not written, or written and not taken by the socket. */
  get bufferedBytes(): number {
    return this.response.writableLength + this.gatheredBytes + (this.source?.bufferedBytes ?? 0);
  }

  /** Status and headers leave; where they have left already, what they would say is a comment. */
  start(head: AnswerHead, requestId: string): Promise<void> | undefined {
    this.source = head.source;
    this.told = head.early !== true;
    if (this.state !== 'waiting') return this.write(encodeSseComment(linesOf(head.headers)));
    this.state = 'started';
    this.response.writeHead(head.status, {
      ...head.headers,
      'content-type': head.contentType,
      ...(head.contentLength === undefined
        ? { 'cache-control': 'no-cache', 'x-accel-buffering': 'no' }
        : { 'content-length': head.contentLength }),
      'x-request-id': requestId,
    });
    return undefined;
  }

  /**
   * Writes bytes as they came, with whatever else comes before the event loop goes on. Returns a promise where the
   * socket is full; it settles on drain and on close.
   */
  write(bytes: Uint8Array): Promise<void> | undefined {
    if (this.state !== 'started' || this.response.destroyed) return undefined;
    this.gathered.push(bytes);
    this.gatheredBytes += bytes.byteLength;
    if (this.gatheredBytes > GATHERED_BYTES) this.flush();
    else if (this.gathered.length === 1) process.nextTick(this.flush);
    return this.waitingForDrain;
  }

  /** Ends a started answer with an error that the caller can read. */
  fail(error: GatewayError): void {
    if (this.state !== 'started') return;
    if (!this.told) void this.write(encodeSseComment(linesOf(refusalHeaders(error))));
    void this.write(encodeErrorEvent(error));
    this.end();
  }

  /** Ends a started answer. */
  end(): void {
    if (this.state !== 'started') return;
    this.state = 'ended';
    const last = this.taken();
    if (last === undefined) this.response.end();
    else this.response.end(last);
  }

  private readonly flush = (): void => {
    const bytes = this.taken();
    if (bytes === undefined || this.response.destroyed || this.response.write(bytes)) return;
    this.waitingForDrain ??= this.drained();
  };

  private taken(): Uint8Array | undefined {
    const { gathered } = this;
    if (gathered.length === 0) return undefined;
    const bytes = gathered.length === 1 ? gathered[0] : Buffer.concat(gathered, this.gatheredBytes);
    this.gathered = [];
    this.gatheredBytes = 0;
    return bytes;
  }

  private drained(): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.response.off('drain', done);
        this.response.off('close', done);
        this.waitingForDrain = undefined;
        resolve();
      };
      this.response.on('drain', done);
      this.response.on('close', done);
    });
  }
}

function linesOf(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
}
