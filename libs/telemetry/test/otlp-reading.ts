/** A protobuf message, read: every field that was written, with each of its values, in the order of the bytes. */
export interface Read {
  readonly [field: string]: readonly (string | number | Read)[];
}

type Scalar = 'text' | 'hex' | 'integer' | 'fixed32' | 'fixed64' | 'double';
type Field = readonly [name: string, as: Scalar | (() => Message)];
type Message = Readonly<Record<number, Field>>;

/** All fields of OTLP's traces (opentelemetry-proto: trace_service.proto, trace.proto, resource.proto, common.proto). */
const VALUE: Message = {
  1: ['string', 'text'],
  2: ['bool', 'integer'],
  3: ['int', 'integer'],
  4: ['double', 'double'],
  5: ['array', () => ({ 1: ['value', () => VALUE] })],
  6: ['map', () => ({ 1: ['entry', () => KEY_VALUE] })],
  7: ['bytes', 'hex'],
};
const KEY_VALUE: Message = { 1: ['key', 'text'], 2: ['value', () => VALUE] };
const RESOURCE: Message = { 1: ['attribute', () => KEY_VALUE], 2: ['droppedAttributes', 'integer'] };
const SCOPE: Message = {
  ...{ 1: ['name', 'text'], 2: ['version', 'text'] },
  ...{ 3: ['attribute', () => KEY_VALUE], 4: ['droppedAttributes', 'integer'] },
};
const EVENT: Message = {
  ...{ 1: ['time', 'fixed64'], 2: ['name', 'text'] },
  ...{ 3: ['attribute', () => KEY_VALUE], 4: ['droppedAttributes', 'integer'] },
};
const LINK: Message = {
  ...{ 1: ['traceId', 'hex'], 2: ['spanId', 'hex'], 3: ['traceState', 'text'] },
  ...{ 4: ['attribute', () => KEY_VALUE], 5: ['droppedAttributes', 'integer'], 6: ['flags', 'fixed32'] },
};
const STATUS: Message = { 2: ['message', 'text'], 3: ['code', 'integer'] };
const SPAN: Message = {
  ...{ 1: ['traceId', 'hex'], 2: ['spanId', 'hex'], 3: ['traceState', 'text'], 4: ['parentId', 'hex'] },
  ...{ 5: ['name', 'text'], 6: ['kind', 'integer'], 7: ['start', 'fixed64'], 8: ['end', 'fixed64'] },
  ...{ 9: ['attribute', () => KEY_VALUE], 10: ['droppedAttributes', 'integer'] },
  ...{ 11: ['event', () => EVENT], 12: ['droppedEvents', 'integer'] },
  ...{ 13: ['link', () => LINK], 14: ['droppedLinks', 'integer'] },
  ...{ 15: ['status', () => STATUS], 16: ['flags', 'fixed32'] },
};
const SCOPE_SPANS: Message = { 1: ['scope', () => SCOPE], 2: ['span', () => SPAN], 3: ['schemaUrl', 'text'] };
const RESOURCE_SPANS: Message = {
  ...{ 1: ['resource', () => RESOURCE], 2: ['scopeSpans', () => SCOPE_SPANS], 3: ['schemaUrl', 'text'] },
};
const REQUEST: Message = { 1: ['resourceSpans', () => RESOURCE_SPANS] };

/** Reads an `ExportTraceServiceRequest`. Throws where a field is not one of OTLP's, or of another wire type. */
export function readTraceRequest(body: Buffer): Read {
  return new MessageReader(body).read(REQUEST);
}

const WIRE_TYPES = { integer: 0, fixed64: 1, double: 1, text: 2, hex: 2, fixed32: 5 };

class MessageReader {
  private at = 0;

  constructor(private readonly bytes: Buffer) {}

  read(message: Message): Read {
    const read: Record<string, (string | number | Read)[]> = {};
    while (this.at < this.bytes.length) {
      const tag = Number(this.varint());
      const [name, as] = message[tag >> 3] ?? unknown(tag);
      if ((tag & 7) !== (typeof as === 'string' ? WIRE_TYPES[as] : WIRE_TYPES.text)) unknown(tag);
      (read[name] ??= []).push(typeof as === 'string' ? this.scalar(as) : this.inner(as()));
    }
    return read;
  }

  private inner(message: Message): Read {
    return new MessageReader(this.delimited()).read(message);
  }

  private scalar(as: Scalar): string | number {
    if (as === 'text') return this.delimited().toString('utf8');
    if (as === 'hex') return this.delimited().toString('hex');
    if (as === 'integer') return String(BigInt.asIntN(64, this.varint()));
    if (as === 'fixed32') return this.take(4).readUInt32LE();
    const eight = this.take(8);
    return as === 'double' ? eight.readDoubleLE() : String(eight.readBigUInt64LE());
  }

  private delimited(): Buffer {
    return this.take(Number(this.varint()));
  }

  private take(length: number): Buffer {
    if (this.at + length > this.bytes.length) throw new Error('The message ends in the middle of a field.');
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  private varint(): bigint {
    for (let value = 0n, shift = 0n; ; shift += 7n) {
      const byte = this.take(1).readUInt8();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }
}

function unknown(tag: number): never {
  throw new Error(`OTLP has no field ${tag >> 3} of wire type ${tag & 7} here.`);
}
