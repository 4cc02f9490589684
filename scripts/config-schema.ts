/**
 * Writes what follows from the schema of weir.yaml: the JSON Schema for editors and the field tables of the manual.
 * `npx tsx scripts/config-schema.ts` writes; with `--check` it only compares, and exits 1 where something drifted.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { editorSchema, fieldTables } from '@weir/config';

const ROOT = join(__dirname, '..');
const SCHEMA = 'apps/gateway/config/weir.schema.json';
const MANUAL = 'docs/configuration.md';

/** Between these the manual is generated. */
const [START, END] = ['<!-- fields: written by scripts/config-schema.ts -->', '<!-- /fields -->'];

function read(file: string): string {
  try {
    return readFileSync(join(ROOT, file), 'utf8');
  } catch {
    return '';
  }
}

function manual(): string {
  const text = read(MANUAL);
  const [start, end] = [text.indexOf(START), text.indexOf(END)];
  if (start < 0 || end < start) throw new Error(`${MANUAL} has lost its markers ${START} and ${END}.`);
  return `${text.slice(0, start)}${START}\n\n${fieldTables()}\n${text.slice(end)}`;
}

const wanted = [
  [SCHEMA, `${JSON.stringify(editorSchema(), null, 2)}\n`],
  [MANUAL, manual()],
] as const;
const drifted = wanted.filter(([file, text]) => read(file) !== text);

if (process.argv.includes('--check')) {
  for (const [file] of drifted) console.error(`${file} is out of date: run npx tsx scripts/config-schema.ts`);
  process.exitCode = drifted.length === 0 ? 0 : 1;
} else {
  for (const [file, text] of drifted) {
    writeFileSync(join(ROOT, file), text);
    console.log(`wrote ${file}`);
  }
}
