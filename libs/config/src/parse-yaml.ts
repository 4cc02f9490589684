import { LineCounter, parseDocument, type YAMLError } from 'yaml';
import type { Fault } from './fault.js';

/** What a text holds, or where it is no YAML. */
export type ParsedYaml =
  | { readonly kind: 'value'; readonly value: unknown; readonly faults: readonly Fault[] }
  | { readonly kind: 'broken'; readonly faults: readonly Fault[] };

/** Reads one YAML 1.2 document. A key that stands twice is a fault, but does not keep the rest from being checked. */
export function parseYaml(text: string): ParsedYaml {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
    logLevel: 'silent',
  });
  const troubles: readonly YAMLError[] = [...document.errors, ...document.warnings];
  const faults = troubles.map((trouble) => {
    const { line, col } = lines.linePos(trouble.pos[0]);
    return { path: `${line}:${col}`, ...describeTrouble(trouble) };
  });
  if (troubles.some((trouble) => trouble.code !== 'DUPLICATE_KEY')) return { kind: 'broken', faults };
  try {
    return { kind: 'value', value: document.toJS(), faults };
  } catch {
    // The only way left to fail: aliases that would unfold without end.
    const allowed = 'fewer *aliases';
    return {
      kind: 'broken',
      faults: [...faults, { path: '(file)', value: 'too many YAML aliases', allowed }],
    };
  }
}

function describeTrouble(trouble: YAMLError): Omit<Fault, 'path'> {
  if (trouble.code === 'DUPLICATE_KEY') {
    return { value: 'a field that stands twice', allowed: 'each field once in its map' };
  }
  return { value: withoutSource(trouble.message), allowed: 'YAML 1.2' };
}

/** The parser quotes what it stumbled over, which may be a key: only its own words before the quotation are kept. */
function withoutSource(message: string): string {
  return message.split(/["'`]|: /)[0]?.trim() ?? '';
}
