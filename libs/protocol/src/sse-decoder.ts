import { GatewayError } from '@weir/kernel';
import { ByteAccumulator } from './byte-accumulator.js';
import { LineDecoder, MAX_LINE_BYTES } from './line-decoder.js';

const COLON = 0x3a;
const SPACE = 0x20;
const BRACE = 0x7b;
const BRACKET = 0x5b;
const LINE_FEED = Buffer.from('\n');
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
const DONE = '[DONE]';
const DATA = [...Buffer.from('data:')];

/** The largest event of several lines, in bytes. */
export const MAX_EVENT_BYTES = 2 * MAX_LINE_BYTES;

/** One event as it came, and what its fields say. */
export interface SseEvent {
  /** Exactly what came: comments before it, its lines, its blank line. All events together are the whole stream. */
  readonly bytes: Buffer;
  /** Undefined where the block carried none: comments, lone blank lines, `id:` or `retry:` only. */
  readonly data: Buffer | undefined;
  readonly event: string | undefined;
  /** False for what was left at the end without a blank line: complete only if its data can be read. */
  readonly terminated: boolean;
}

/** Receives one event. */
export type SseListener = (event: SseEvent) => void;

/**
 * Reads server-sent events off bytes, as the WHATWG standard says, and forgives what providers get wrong
 * (seen up to 2026-11): a bare `[DONE]` line, bare JSON, and `error: {…}` as a field of its own.
 */
export class SseDecoder {
  private readonly lines = new LineDecoder();
  private readonly frame = new ByteAccumulator();
  private readonly data = new ByteAccumulator();
  private hasData = false;
  private event: string | undefined;
  private atStart = true;
  /** A line of bare JSON began this event; what follows is more of it. */
  private isBare = false;

  /** Bytes of the event that is not complete yet. */
  get pendingBytes(): number {
    return this.lines.pendingBytes + this.frame.length;
  }

  /**
   * Takes a read over; the caller must not change it afterwards.
   * @throws GatewayError `upstream_protocol` for a line or an event that is too large to hold
   */
  push(read: Uint8Array, onEvent: SseListener): void {
    this.lines.push(read, (bytes, length) => {
      this.line(bytes, length, onEvent);
    });
  }

  /** The stream is over; what is left becomes an event that is not `terminated`. */
  end(onEvent: SseListener): void {
    this.lines.end((bytes, length) => {
      this.frame.append(bytes);
      this.field(bytes, this.skipBom(bytes), length);
    });
    if (this.frame.length > 0) this.dispatch(false, onEvent);
  }

  private line(bytes: Buffer, length: number, onEvent: SseListener): void {
    this.frame.append(bytes);
    if (this.frame.length > MAX_EVENT_BYTES) throw oversized();
    const start = this.skipBom(bytes);
    if (length === start) this.dispatch(true, onEvent);
    else this.field(bytes, start, length);
  }

  private skipBom(bytes: Buffer): number {
    if (!this.atStart) return 0;
    this.atStart = false;
    return bytes.subarray(0, BOM.length).equals(BOM) ? BOM.length : 0;
  }

  /** Takes offsets, as a view costs more than the reading. */
  private field(bytes: Buffer, start: number, end: number): void {
    if (bytes[start] === COLON) return;
    if (this.hasBareData(bytes, start, end)) this.addData(bytes.subarray(start, end));
    else this.namedField(bytes, start, end);
  }

  private hasBareData(bytes: Buffer, start: number, end: number): boolean {
    if (this.isBare) return true;
    const first = bytes[start];
    if (first !== BRACE && first !== BRACKET) return false;
    this.isBare = first === BRACE || bytes[start + 1] === BRACE;
    return this.isBare || bytes.toString('latin1', start, Math.min(end, start + DONE.length)) === DONE;
  }

  private namedField(bytes: Buffer, start: number, end: number): void {
    if (isData(bytes, start)) {
      const value = start + DATA.length;
      this.addData(bytes.subarray(Math.min(bytes[value] === SPACE ? value + 1 : value, end), end));
      return;
    }
    const found = bytes.indexOf(COLON, start);
    const colon = found === -1 || found > end ? end : found;
    const name = bytes.toString('latin1', start, colon);
    // Only one space belongs to the syntax; a second one is content.
    const value = Math.min(bytes[colon + 1] === SPACE ? colon + 2 : colon + 1, end);
    if (name === 'event') this.event = bytes.toString('utf8', value, end);
    if (name === 'error') this.event = 'error';
    // Without a colon the whole line is the name.
    if (name === 'data' || name === 'error') this.addData(bytes.subarray(value, end));
  }

  private addData(value: Buffer): void {
    if (this.hasData) this.data.append(LINE_FEED);
    this.hasData = true;
    this.data.append(value);
  }

  private dispatch(terminated: boolean, onEvent: SseListener): void {
    const data = this.data.length > 0 ? this.data.take() : undefined;
    const event = this.event;
    this.hasData = false;
    this.isBare = false;
    this.event = undefined;
    onEvent({ bytes: this.frame.take(), data, event, terminated });
  }
}

/** Nearly every line is one: five comparisons are cheaper than a search and a string. */
function isData(bytes: Buffer, start: number): boolean {
  for (let at = 0; at < DATA.length; at += 1) if (bytes[start + at] !== DATA[at]) return false;
  return true;
}

function oversized(): GatewayError {
  return new GatewayError(
    'upstream_protocol',
    `The provider sent an event of more than ${MAX_EVENT_BYTES} bytes, which the gateway does not hold in memory.`,
    { origin: 'provider', failure: 'fatal', sent: true },
  );
}
