/** Where a value stands in the file: names of fields and numbers of list entries. */
export type FieldPath = readonly (string | number)[];

/** One thing that must be put right before the configuration can be used. */
export interface Fault {
  /** `accounts[0].limits.requestsPerMinute`, `WEIR_PORT`, or `12:3` (line and column) where YAML itself is broken. */
  readonly path: string;
  /** What is there, as it may be shown: `…` stands for anything that may be secret. */
  readonly value: string;
  /** What would be right. */
  readonly allowed: string;
}

/** A configuration that cannot be used, with every fault in it. */
export class ConfigFaults extends Error {
  override readonly name = 'ConfigFaults';

  constructor(
    readonly source: string,
    readonly faults: readonly Fault[],
  ) {
    const count = faults.length === 1 ? '1 fault' : `${faults.length} faults`;
    super(
      [`${source} cannot be used: ${count}`, ...faults.map((fault) => `  ${formatFault(fault)}`)].join('\n'),
    );
  }
}

/** One line for people. */
export function formatFault(fault: Fault): string {
  return `${fault.path}: ${fault.value}; allowed: ${fault.allowed}`;
}

/** `accounts[0].models["gpt-4.1"].price`: names that are no identifiers are quoted, so that a path reads one way only. */
export function formatPath(path: FieldPath): string {
  if (path.length === 0) return '(file)';
  const text = path.map((key) => {
    if (typeof key === 'number') return `[${key}]`;
    return /^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
  });
  return text.join('').replace(/^\./, '');
}

const LONGEST_SHOWN = 60;

/** A value in one short line. Maps and lists are not opened: something secret may be in them. */
export function showValue(value: unknown): string {
  if (value === undefined) return '(missing)';
  if (value === null) return '(empty)';
  if (Array.isArray(value)) return value.length === 0 ? '(empty list)' : '(list)';
  if (typeof value === 'object') return '(map)';
  const text = typeof value === 'number' ? String(value) : JSON.stringify(value);
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
}
