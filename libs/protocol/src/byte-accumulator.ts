import { asBuffer } from './json-value.js';

const EMPTY = Buffer.alloc(0);

/**
 * Bytes that belong together, joined as late and as seldom as possible.
 * Neighbours in memory are joined by widening the view; others are copied into a buffer that doubles,
 * so that a body which comes byte by byte costs linear time and at most twice its size.
 */
export class ByteAccumulator {
  /** Our own memory, or the first view that was appended; in both cases the content is `used` bytes from its start. */
  private store: Buffer = EMPTY;
  private used = 0;
  private owned = false;

  get length(): number {
    return this.used;
  }

  /** Takes the bytes over: the caller must not change them afterwards. */
  append(bytes: Uint8Array): void {
    if (bytes.byteLength === 0) return;
    if (this.used === 0) {
      this.store = asBuffer(bytes);
      this.used = bytes.byteLength;
    } else if (!this.owned && this.follows(bytes)) this.used += bytes.byteLength;
    else this.copy(bytes);
  }

  /** Gives everything out and starts anew. */
  take(): Buffer {
    const taken = this.content();
    this.store = EMPTY;
    this.used = 0;
    this.owned = false;
    return taken;
  }

  /** What a view was widened by lies behind it in the same memory. */
  private content(): Buffer {
    const { store, used } = this;
    return used === store.length ? store : Buffer.from(store.buffer, store.byteOffset, used);
  }

  private follows(bytes: Uint8Array): boolean {
    return bytes.buffer === this.store.buffer && bytes.byteOffset === this.store.byteOffset + this.used;
  }

  private copy(bytes: Uint8Array): void {
    const needed = this.used + bytes.byteLength;
    if (!this.owned || needed > this.store.length) {
      // The first copy is exact: most frames that are split at all are split once.
      const grown = Buffer.allocUnsafeSlow(this.owned ? Math.max(needed, this.used * 2) : needed);
      this.content().copy(grown);
      this.store = grown;
      this.owned = true;
    }
    this.store.set(bytes, this.used);
    this.used = needed;
  }
}
