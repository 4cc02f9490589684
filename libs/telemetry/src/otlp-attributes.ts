import type { ProtoWriter } from './proto-writer.js';

/** Fields of `KeyValue` and `AnyValue` (opentelemetry-proto, common.proto). */
const KEY_VALUE = { key: 1, value: 2 };
const VALUE = { text: 1, flag: 2, integer: 3, double: 4, list: 5 };
const LIST = { value: 1 };

/** Writes one attribute. Values that attributes cannot have become empty ones. */
export function writeAttribute(writer: ProtoWriter, field: number, name: string, value: unknown): void {
  const message = writer.begin(field);
  writer.text(KEY_VALUE.key, name);
  writeValue(writer, KEY_VALUE.value, value);
  writer.end(message);
}

function writeValue(writer: ProtoWriter, field: number, value: unknown): void {
  const message = writer.begin(field);
  if (typeof value === 'string') writer.text(VALUE.text, value);
  else if (typeof value === 'number') writeNumber(writer, value);
  else if (typeof value === 'boolean') writer.integer(VALUE.flag, value ? 1 : 0);
  else if (Array.isArray(value)) {
    const list = writer.begin(VALUE.list);
    for (const item of value) writeValue(writer, LIST.value, item);
    writer.end(list);
  }
  writer.end(message);
}

/** Counts are integers, measures are doubles; nothing here counts below zero. */
function writeNumber(writer: ProtoWriter, value: number): void {
  if (Number.isSafeInteger(value) && value >= 0) writer.integer(VALUE.integer, value);
  else writer.double(VALUE.double, value);
}
