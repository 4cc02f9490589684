import type { Environment } from './environment.js';
import { formatPath, type Fault, type FieldPath } from './fault.js';

// YAML reads braces inside [ ] and { } as its own, so `{ url: ${REDIS_URL} }` would be a syntax error. The braces of
// references are therefore swapped for private-use characters of one column each before YAML sees them.
const OPEN = '\ue000';
const CLOSE = '\ue001';
const NAME = '[A-Za-z_][A-Za-z0-9_]*';
const REFERENCE = new RegExp(`\\$${OPEN}(${NAME})${CLOSE}`, 'g');

/** Text whose `${VAR}` YAML leaves alone. Lines and columns stay what they were. */
export function shieldReferences(text: string): string {
  return text.replace(new RegExp(`(?<!\\$)\\$\\{(${NAME})\\}`, 'g'), `$$${OPEN}$1${CLOSE}`);
}

/** A value before and after its references were filled in. */
export interface Interpolated {
  /** With values of the environment. */
  readonly value: unknown;
  /** As it was written: safe to show, because a variable may hold a secret wherever it stands. */
  readonly shown: unknown;
  readonly faults: readonly Fault[];
  /** Names that were referred to. */
  readonly used: ReadonlySet<string>;
}

/** Fills `${VAR}` into every text of `parsed`; `$${` stands for `${` itself. */
export function interpolate(parsed: unknown, env: Environment): Interpolated {
  const faults: Fault[] = [];
  const used = new Set<string>();
  const fill = (text: string, path: FieldPath): string => {
    if (/(?<!\$)\$\{/.test(text)) {
      faults.push({
        path: formatPath(path),
        value: '${…}',
        allowed: '${NAME} with letters, digits and _; $${ for a plain ${',
      });
    }
    const filled = text.replace(REFERENCE, (_, name: string) => {
      used.add(name);
      const value = env[name];
      if (value !== undefined) return value;
      const allowed = `the environment variable ${name} to be set`;
      faults.push({ path: formatPath(path), value: `\${${name}} is not set`, allowed });
      return `\${${name}}`;
    });
    return unescape(filled, text);
  };
  const value = mapTexts(parsed, [], fill);
  const shown = mapTexts(parsed, [], (text) => unshield(text));
  return { value, shown, faults, used };
}

/** A `$${` counts as an escape only where the file wrote it, never where a variable's value holds it. */
function unescape(filled: string, written: string): string {
  return written.includes('$${') ? filled.replaceAll('$${', '${') : filled;
}

function unshield(text: string): string {
  return text.replaceAll(OPEN, '{').replaceAll(CLOSE, '}');
}

/** A copy with every text replaced. Keys are names, not texts: they only lose their shields. */
function mapTexts(
  value: unknown,
  path: FieldPath,
  replace: (text: string, path: FieldPath) => string,
): unknown {
  if (typeof value === 'string') return replace(value, path);
  if (Array.isArray(value))
    return value.map((entry: unknown, index) => mapTexts(entry, [...path, index], replace));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [
      unshield(key),
      mapTexts(entry, [...path, unshield(key)], replace),
    ]),
  );
}
