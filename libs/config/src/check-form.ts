import { z } from 'zod';
import { didYouMean } from './closest.js';
import { formatPath, showValue, type Fault, type FieldPath } from './fault.js';
import { fileSchema, type ConfigFile } from './schema.js';
import { factsAt, fieldNamesAt, schemaAt } from './schema-at.js';

/** A file as far as it is right: what had a fault is undefined, so that the rest can still be cross-checked. */
export type Draft<T> = T extends readonly (infer Entry)[]
  ? readonly (Draft<Entry> | undefined)[]
  : T extends object
    ? { readonly [Key in keyof T]?: Draft<T[Key]> | undefined }
    : T;

/** The whole file as a draft. */
export type DraftFile = Draft<ConfigFile>;

/** What the form check found. */
export interface FormCheck {
  /** The file with its defaults; undefined where there is any fault of form. */
  readonly file: ConfigFile | undefined;
  readonly draft: DraftFile;
  readonly faults: readonly Fault[];
}

/**
 * Checks types, ranges and field names, and names every fault.
 * @param value what is to be used
 * @param shown the same before `${VAR}` was filled in, for the faults' text
 */
export function checkForm(value: unknown, shown: unknown): FormCheck {
  const result = fileSchema.safeParse(value, { reportInput: false });
  const hidden = prototypePaths(value, []);
  if (result.success && hidden.length === 0) return { file: result.data, draft: result.data, faults: [] };
  const issues = result.error?.issues ?? [];
  const prune: Prune = {
    gone: new Set([...hidden, ...issues.flatMap(namelessPaths)].map(formatPath)),
    wrong: new Set(issues.flatMap(worthlessPaths).map(formatPath)),
  };
  return {
    file: undefined,
    // Every part that was wrong is taken out, so what is left has the type that the schema gave it.
    draft: pruned(value, prune, []) as DraftFile,
    faults: [...hidden.map(unusableName), ...issues.flatMap((issue) => toFaults(issue, shown))],
  };
}

function toFaults(issue: z.core.$ZodIssue, shown: unknown): readonly Fault[] {
  const path = fieldPath(issue.path);
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownField(path, key));
  if (issue.code === 'invalid_key') return [unusableName(path)];
  const facts = factsAt(fileSchema, path);
  const value = facts?.secret
    ? '…'
    : `${show(valueAt(shown, path), path)}${guess(valueAt(shown, path), path)}`;
  const unit = facts?.unit === undefined ? '' : ` (${facts.unit})`;
  return [{ path: formatPath(path), value, allowed: `${facts?.allowed ?? 'nothing'}${unit}` }];
}

/** The word that was probably meant, where one of a few words is wanted. */
function guess(value: unknown, path: FieldPath): string {
  const schema = schemaAt(fileSchema, path);
  return typeof value === 'string' && schema instanceof z.ZodEnum
    ? didYouMean(value, schema.options.map(String))
    : '';
}

function unknownField(path: FieldPath, key: string): Fault {
  const names = fieldNamesAt(fileSchema, path);
  // `apiKey:value` without its blank is one long name to YAML: nothing behind the colon may be shown.
  const name = key.replace(/[:=\s].*/s, '…');
  return {
    path: formatPath([...path, name]),
    value: `unknown field${didYouMean(name, names)}`,
    allowed: names.join(', '),
  };
}

function unusableName(path: FieldPath): Fault {
  return {
    path: formatPath(path),
    value: showValue(path.at(-1)),
    allowed: 'a name of 1 to 256 printable ASCII characters without blanks, not __proto__',
  };
}

/** zod passes `__proto__` over in silence, and a rule that nobody reads is a fault. */
function prototypePaths(value: unknown, path: FieldPath): readonly FieldPath[] {
  if (typeof value !== 'object' || value === null) return [];
  return entriesOf(value).flatMap(([key, entry]) =>
    key === '__proto__' ? [[...path, key]] : prototypePaths(entry, [...path, key]),
  );
}

/** An address may carry a credential even where it must not; a shape is the one map that is small and harmless. */
function show(value: unknown, path: FieldPath): string {
  if (typeof value === 'string')
    return showValue(value.replace(/^.*@/s, '…@').replace(/(:\/\/[^?#]*[?#]).*/s, '$1…'));
  const isShape = schemaAt(fileSchema, path)?._zod.def.type === 'union';
  return isShape && typeof value === 'object' && value !== null ? JSON.stringify(value) : showValue(value);
}

/** Entries whose very name is wrong. */
function namelessPaths(issue: z.core.$ZodIssue): readonly FieldPath[] {
  const path = fieldPath(issue.path);
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => [...path, key]);
  return issue.code === 'invalid_key' ? [path] : [];
}

/** Entries whose value is wrong. */
function worthlessPaths(issue: z.core.$ZodIssue): readonly FieldPath[] {
  return namelessPaths(issue).length > 0 ? [] : [fieldPath(issue.path)];
}

function fieldPath(path: readonly PropertyKey[]): FieldPath {
  return path.map((key) => (typeof key === 'number' ? key : String(key)));
}

function valueAt(value: unknown, path: FieldPath): unknown {
  return path.reduce<unknown>((at, key) => {
    if (typeof at !== 'object' || at === null) return undefined;
    return entriesOf(at).find(([name]) => name === key)?.[1];
  }, value);
}

interface Prune {
  /** Left out altogether. */
  readonly gone: ReadonlySet<string>;
  /** Kept as undefined, so that cross-checks can tell a wrong value from none. */
  readonly wrong: ReadonlySet<string>;
}

/** The draft without the values at `paths`: whoever names a value as a fault keeps others from judging by it. */
export function without(draft: DraftFile, paths: readonly string[]): DraftFile {
  return pruned(draft, { gone: new Set(), wrong: new Set(paths) }, []) as DraftFile;
}

function pruned(value: unknown, prune: Prune, path: FieldPath): unknown {
  if (prune.wrong.has(formatPath(path))) return path.length === 0 ? {} : undefined;
  if (typeof value !== 'object' || value === null) return value;
  const kept = entriesOf(value)
    .map(([key, entry]) => ({ key, entry, path: [...path, key] }))
    .filter((entry) => !prune.gone.has(formatPath(entry.path)))
    .map(({ key, entry, path: at }) => [key, pruned(entry, prune, at)] as const);
  return Array.isArray(value) ? kept.map(([, entry]) => entry) : Object.fromEntries(kept);
}

function entriesOf(value: object): readonly (readonly [string | number, unknown])[] {
  if (Array.isArray(value)) return value.map((entry: unknown, index) => [index, entry] as const);
  return Object.entries(value);
}
