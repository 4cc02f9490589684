import { connect, type Socket } from 'node:net';
import { contentLength, headEnd } from './http-bytes.js';

const NOTHING = Buffer.alloc(0);
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

/** Told of every answer; says whether another is wanted. */
export type OnAnswer = (isGood: boolean) => boolean;

/** One caller on a bare socket: asks, reads to the end, asks again. It looks at no byte that it need not look at. */
export class CallerConnection {
  private readonly socket: Socket;
  private head: Buffer = NOTHING;
  private tail: Buffer = NOTHING;
  private state: 'head' | 'body' = 'head';
  private isOk = false;
  private bytes = 0;
  /** Undefined where the body is chunked. */
  private length: number | undefined;

  /** @param leastBytes a shorter answer is a bad one */
  constructor(
    { hostname, port }: { readonly hostname: string; readonly port: string },
    private readonly request: Buffer,
    private readonly leastBytes: number,
    private readonly onAnswer: OnAnswer,
  ) {
    this.socket = connect({ host: hostname, port: Number(port), noDelay: true });
    this.socket.on('connect', () => this.socket.write(request));
    this.socket.on('data', (bytes: Buffer) => {
      this.read(bytes);
    });
    this.socket.on('error', () => this.socket.destroy());
    this.socket.on('close', () => this.onAnswer(false));
  }

  private read(bytes: Buffer): void {
    if (this.state === 'body') {
      this.body(bytes);
      return;
    }
    this.head = this.head.length === 0 ? bytes : Buffer.concat([this.head, bytes]);
    const end = headEnd(this.head);
    if (end === -1) return;
    const head = this.head.toString('latin1', 0, end);
    const rest = this.head.subarray(end);
    this.isOk = head.startsWith('HTTP/1.1 200');
    this.length = contentLength(head);
    this.state = 'body';
    this.bytes = 0;
    this.head = NOTHING;
    this.tail = NOTHING;
    this.body(rest);
  }

  private body(bytes: Buffer): void {
    this.bytes += bytes.length;
    if (this.length === undefined ? !this.endsWith(bytes) : this.bytes < this.length) return;
    this.state = 'head';
    if (this.onAnswer(this.isOk && this.bytes >= this.leastBytes)) this.socket.write(this.request);
    else {
      this.socket.removeAllListeners('close');
      this.socket.destroy();
    }
  }

  /** No event of ours begins with a line break, so these five bytes are in no other place. */
  private endsWith(bytes: Buffer): boolean {
    const enough = bytes.length >= LAST_CHUNK.length ? bytes : Buffer.concat([this.tail, bytes]);
    this.tail = enough.subarray(-LAST_CHUNK.length);
    return this.tail.equals(LAST_CHUNK);
  }
}
