import type { z } from 'zod';
import { formatPath, showValue, type Fault, type FieldPath } from './fault.js';
import { fileSchema } from './schema.js';
import { schemaAt, unwrap } from './schema-at.js';

/** A setting whose machinery is not there: accepting it would silently do nothing. */
export interface Unsupported {
  /** Field names; `*` is any entry of a list or map. */
  readonly path: readonly string[];
  /** Whether a value would ask for the missing machinery. */
  readonly asksFor: (value: unknown) => boolean;
  /** What to write instead. */
  readonly allowed: string;
}

/** What the gateway cannot do yet. Whoever builds one of these deletes its row. */
export const NOT_BUILT_YET: readonly Unsupported[] = [
  { path: ['store', 'kind'], asksFor: isNot('memory'), allowed: 'memory; redis is not built yet' },
  { path: ['disconnect'], asksFor: isNot('abort'), allowed: 'abort; drain and journal are not built yet' },
  {
    path: ['teams', '*', 'budget'],
    asksFor: isNot(undefined),
    allowed: 'nothing; budgets are not built yet',
  },
];

/** Settings of `file` that ask for what is not there. */
export function checkSupport(file: unknown, rows: readonly Unsupported[]): readonly Fault[] {
  return rows.flatMap((row) =>
    valuesAt(file, row.path, [])
      .filter(({ value }) => value !== undefined && row.asksFor(value))
      .map(({ value, path }) => ({ path: formatPath(path), value: showValue(value), allowed: row.allowed })),
  );
}

/** What manual and editor say of a field that can be written and is refused; empty for every other field. */
export function supportNote(field: z.core.$ZodType): string {
  const row = NOT_BUILT_YET.find(({ path }) => schemaAt(fileSchema, path) === unwrap(field));
  return row === undefined ? '' : ` Today: ${row.allowed}.`;
}

function isNot(wanted: unknown): (value: unknown) => boolean {
  return (value) => value !== wanted;
}

interface Found {
  readonly value: unknown;
  readonly path: FieldPath;
}

function valuesAt(value: unknown, pattern: readonly string[], path: FieldPath): readonly Found[] {
  const [name, ...rest] = pattern;
  if (name === undefined) return [{ value, path }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value)
    .filter(([key]) => name === '*' || name === key)
    .flatMap(([key, entry]) => valuesAt(entry, rest, [...path, Array.isArray(value) ? Number(key) : key]));
}
