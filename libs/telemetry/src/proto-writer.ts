/** Wire types. */
const VARINT = 0;
const FIXED_64 = 1;
const DELIMITED = 2;
const FIXED_32 = 5;

/**
 * Protobuf's wire format, as far as spans need it, in one piece of memory that grows and is used again. What is written
 * here leaves no objects behind.
 */
export class ProtoWriter {
  private bytes: Buffer;
  private at = 0;

  /** @param bytes how much there is room for at first */
  constructor(bytes = 64 * 1024) {
    this.bytes = Buffer.allocUnsafeSlow(bytes);
  }

  get length(): number {
    return this.at;
  }

  /** What was written, until more is. */
  view(): Buffer {
    return this.bytes.subarray(0, this.at);
  }

  clear(): void {
    this.at = 0;
  }

  /** Takes back what was written after it had this length. */
  cut(length: number): void {
    this.at = length;
  }

  /** Begins a message inside of this one. @returns what `end` wants */
  begin(field: number): number {
    this.reserve(8);
    this.tag(field, DELIMITED);
    this.at += 1;
    return this.at;
  }

  /** Ends a message: its length goes before it. Most are short, and need one byte for that. */
  end(start: number): void {
    const length = this.at - start;
    if (length < 0x80) {
      this.bytes[start - 1] = length;
      return;
    }
    const more = length < 0x4000 ? 1 : length < 0x200000 ? 2 : 4;
    this.reserve(more);
    this.bytes.copyWithin(start + more, start, this.at);
    this.at = start - 1;
    this.varint(length);
    this.at += length;
  }

  /** What goes before a message whose bytes follow. */
  header(field: number, length: number): void {
    this.reserve(16);
    this.tag(field, DELIMITED);
    this.varint(length);
  }

  /** A whole number from 0 to 2^53. */
  integer(field: number, value: number): void {
    this.reserve(16);
    this.tag(field, VARINT);
    this.varint(value);
  }

  fixed32(field: number, value: number): void {
    this.reserve(8);
    this.tag(field, FIXED_32);
    this.word(value);
  }

  /** 64 bits in two halves. */
  fixed64(field: number, low: number, high: number): void {
    this.reserve(16);
    this.tag(field, FIXED_64);
    this.word(low);
    this.word(high);
  }

  double(field: number, value: number): void {
    this.reserve(16);
    this.tag(field, FIXED_64);
    this.at = this.bytes.writeDoubleLE(value, this.at);
  }

  /** Bytes that are given in lower-case hexadecimal. */
  hex(field: number, digits: string): void {
    this.reserve(8 + digits.length);
    this.tag(field, DELIMITED);
    this.varint(digits.length / 2);
    for (let index = 0; index < digits.length; index += 2)
      this.bytes[this.at++] = (nibble(digits, index) << 4) | nibble(digits, index + 1);
  }

  /** Byte by byte as long as it is ASCII: for names and ids that is faster than a native call. */
  text(field: number, value: string): void {
    this.reserve(16 + 3 * value.length);
    this.tag(field, DELIMITED);
    const start = this.at;
    this.varint(value.length);
    for (let index = 0; index < value.length; index += 1) {
      const code = value.charCodeAt(index);
      if (code > 0x7f) {
        this.at = start;
        this.varint(Buffer.byteLength(value));
        this.at += this.bytes.write(value, this.at, 'utf8');
        return;
      }
      this.bytes[this.at++] = code;
    }
  }

  private tag(field: number, wireType: number): void {
    this.varint(field * 8 + wireType);
  }

  private varint(value: number): void {
    let rest = value;
    while (rest > 0x7f) {
      this.bytes[this.at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.bytes[this.at++] = rest;
  }

  private word(value: number): void {
    this.bytes[this.at++] = value & 0xff;
    this.bytes[this.at++] = (value >>> 8) & 0xff;
    this.bytes[this.at++] = (value >>> 16) & 0xff;
    this.bytes[this.at++] = value >>> 24;
  }

  private reserve(more: number): void {
    const needed = this.at + more;
    if (needed <= this.bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.bytes.length));
    this.bytes.copy(grown, 0, 0, this.at);
    this.bytes = grown;
  }
}

/** `0` to `9`, or `a` to `f`. */
function nibble(digits: string, index: number): number {
  const code = digits.charCodeAt(index);
  return code <= 0x39 ? code - 0x30 : code - 0x57;
}
