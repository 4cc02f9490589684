import { z } from 'zod';
import { fieldFacts } from './field.js';
import { fileSchema } from './schema.js';
import { unwrap } from './schema-at.js';
import { supportNote } from './unsupported.js';

/** Every field of weir.yaml as Markdown: one heading and one aligned table for each map, as Prettier writes them. */
export function fieldTables(): string {
  return sectionsOf(fileSchema, '').map(toMarkdown).join('\n');
}

interface Section {
  readonly path: string;
  readonly schema: z.ZodObject;
}

/** The map at `path` and every map below it, in the schema's order. */
function sectionsOf(schema: z.core.$ZodType, path: string): readonly Section[] {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodArray) return sectionsOf(inner.def.element, `${path}[]`);
  if (inner instanceof z.ZodRecord) return sectionsOf(inner.def.valueType, `${path}.<name>`);
  if (!(inner instanceof z.ZodObject)) return [];
  const below = fieldsOf(inner).flatMap(([name, field]) =>
    sectionsOf(field, path === '' ? name : `${path}.${name}`),
  );
  return [{ path, schema: inner }, ...below];
}

function fieldsOf(schema: z.ZodObject): readonly (readonly [string, z.core.$ZodType])[] {
  const fields: Readonly<Record<string, z.core.$ZodType>> = schema.def.shape;
  return Object.entries(fields);
}

const HEADER = ['Field', 'Unit', 'Allowed', 'Default', 'Meaning'];

function toMarkdown({ path, schema }: Section): string {
  const rows = fieldsOf(schema).map(([name, field]) => toRow(name, field));
  const title = path === '' ? '### The whole file' : `### \`${path}\``;
  return `${title}\n\n${saysOf(schema)}\n\n${toTable([HEADER, ...rows])}\n`;
}

function toRow(name: string, field: z.core.$ZodType): readonly string[] {
  const inner = unwrap(field);
  const facts = fieldFacts.get(inner);
  const allowed = inner instanceof z.ZodObject ? 'a map, see below' : (facts?.allowed ?? '');
  return [`\`${name}\``, facts?.unit ?? '', allowed, defaultOf(field), saysOf(inner)];
}

function saysOf(schema: z.core.$ZodType): string {
  return `${fieldFacts.get(schema)?.says ?? ''}${supportNote(schema)}`;
}

function defaultOf(field: z.core.$ZodType): string {
  if (field instanceof z.ZodDefault)
    return `\`${JSON.stringify(field.def.defaultValue).replaceAll('"', '')}\``;
  if (field instanceof z.ZodPrefault) return 'as below';
  return field instanceof z.ZodOptional ? 'none' : 'required';
}

function toTable(rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = HEADER.map((_, column) => Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)));
  const lines = cells.map(
    (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`,
  );
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [lines[0], rule, ...lines.slice(1)].join('\n');
}
