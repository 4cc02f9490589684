import { asBuffer } from './json-value.js';

const EMPTY = Buffer.alloc(0);

/**
 * Bytes that belong together, joined as late and as seldom as possible.
 * Neighbours in memory are joined by widening the view; others are copied into a buffer that doubles,
 * so that a body which comes byte by byte costs linear time and at most twice its size.
 */
export class ByteAccumulator {
  /** Filled up to `used`; a view of somebody else's memory while `owned` is false. */
  private store: Buffer = EMPTY;
  private used = 0;
  private owned = false;

  get length(): number {
    return this.used;
  }

  /** Takes the bytes over: the caller must not change them afterwards. */
  append(bytes: Uint8Array): void {
    if (bytes.byteLength === 0) return;
    if (this.used === 0) this.adopt(asBuffer(bytes));
    else if (!this.owned && this.follows(bytes)) this.adopt(this.widened(bytes.byteLength));
    else this.copy(bytes);
  }

  /** Gives everything out and starts anew. */
  take(): Buffer {
    const taken = this.store.subarray(0, this.used);
    this.store = EMPTY;
    this.used = 0;
    this.owned = false;
    return taken;
  }

  private adopt(view: Buffer): void {
    this.store = view;
    this.used = view.length;
  }

  private follows(bytes: Uint8Array): boolean {
    return bytes.buffer === this.store.buffer && bytes.byteOffset === this.store.byteOffset + this.used;
  }

  private widened(by: number): Buffer {
    return Buffer.from(this.store.buffer, this.store.byteOffset, this.used + by);
  }

  private copy(bytes: Uint8Array): void {
    const needed = this.used + bytes.byteLength;
    if (!this.owned || needed > this.store.length) {
      // The first copy is exact: most frames that are split at all are split once.
      const grown = Buffer.allocUnsafeSlow(this.owned ? Math.max(needed, this.used * 2) : needed);
      this.store.copy(grown, 0, 0, this.used);
      this.store = grown;
      this.owned = true;
    }
    this.store.set(bytes, this.used);
    this.used = needed;
  }
}
