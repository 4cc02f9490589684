import { GatewayError } from '@weir/kernel';
import { ByteAccumulator } from './byte-accumulator.js';
import { asBuffer } from './json-value.js';

const LF = 0x0a;
const CR = 0x0d;

/** The longest line that is accepted, in bytes; seen in the wild: over 1 MB (tool arguments, images). */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;

/**
 * Receives one line.
 * @param bytes         the line with its terminator, exactly as it came
 * @param contentLength how many of them come before the terminator
 */
export type LineListener = (bytes: Buffer, contentLength: number) => void;

/**
 * Cuts bytes into lines that end in LF, CRLF or CR, in any mixture and wherever the reads are split.
 * A CR at the end of a read waits for the next byte, which tells whether it was half of a CRLF: so neither a phantom
 * blank line appears nor do the two halves end in different frames.
 */
export class LineDecoder {
  private readonly carry = new ByteAccumulator();
  private endsInCr = false;

  /** Bytes of the line that is not complete yet. */
  get pendingBytes(): number {
    return this.carry.length;
  }

  /**
   * Takes a read over; the caller must not change it afterwards.
   * @throws GatewayError `upstream_protocol` for a line above MAX_LINE_BYTES
   */
  push(read: Uint8Array, onLine: LineListener): void {
    const chunk = asBuffer(read);
    if (chunk.length === 0) return;
    let start = this.endsInCr ? this.finishCr(chunk, onLine) : 0;
    const terminators = new TerminatorSearch(chunk, start);
    for (let found = terminators.next(start); found; found = terminators.next(start)) {
      this.emit(chunk.subarray(start, found.end), found.length, onLine);
      start = found.end;
    }
    this.keep(chunk.subarray(start));
    this.endsInCr = start < chunk.length && chunk[chunk.length - 1] === CR;
  }

  /** The stream is over: what is left is a line without a terminator. */
  end(onLine: LineListener): void {
    if (this.carry.length === 0) return;
    const bytes = this.carry.take();
    onLine(bytes, bytes.length - (this.endsInCr ? 1 : 0));
    this.endsInCr = false;
  }

  private finishCr(chunk: Buffer, onLine: LineListener): number {
    this.endsInCr = false;
    const isCrLf = chunk[0] === LF;
    this.emit(chunk.subarray(0, isCrLf ? 1 : 0), isCrLf ? 2 : 1, onLine);
    return isCrLf ? 1 : 0;
  }

  private emit(rest: Buffer, terminator: number, onLine: LineListener): void {
    let line = rest;
    if (this.carry.length > 0) {
      this.carry.append(rest);
      line = this.carry.take();
    }
    refuseAbove(line.length - terminator);
    onLine(line, line.length - terminator);
  }

  private keep(rest: Buffer): void {
    this.carry.append(rest);
    refuseAbove(this.carry.length - 1);
  }
}

/** Walks over the line ends of one read; each byte is looked at once per kind of terminator. */
class TerminatorSearch {
  private lf: number;
  private cr: number;

  constructor(
    private readonly chunk: Buffer,
    start: number,
  ) {
    this.lf = chunk.indexOf(LF, start);
    this.cr = chunk.indexOf(CR, start);
  }

  /** The first terminator from `start` on, where it is known to be complete. */
  next(start: number): { end: number; length: number } | undefined {
    if (this.lf !== -1 && this.lf < start) this.lf = this.chunk.indexOf(LF, start);
    if (this.cr !== -1 && this.cr < start) this.cr = this.chunk.indexOf(CR, start);
    const { lf, cr } = this;
    if (cr === -1 || (lf !== -1 && lf < cr)) return lf === -1 ? undefined : { end: lf + 1, length: 1 };
    if (cr === this.chunk.length - 1) return undefined;
    return lf === cr + 1 ? { end: lf + 1, length: 2 } : { end: cr + 1, length: 1 };
  }
}

function refuseAbove(length: number): void {
  if (length <= MAX_LINE_BYTES) return;
  throw new GatewayError(
    'upstream_protocol',
    `The provider sent a line of more than ${MAX_LINE_BYTES} bytes, which the gateway does not hold in memory.`,
    { origin: 'provider', failure: 'fatal', sent: true },
  );
}
