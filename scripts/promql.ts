/** What a PromQL expression names: enough of the language to tell metrics and labels from the rest. */
export interface Mentions {
  /** Metrics, with the labels that each one's matchers name. */
  readonly selectors: readonly { readonly metric: string; readonly labels: readonly string[] }[];
  /** Labels in `by`, `without`, `on`, `ignoring` and `group_left`. */
  readonly grouped: readonly string[];
}

const STRING = /"(?:[^"\\]|\\.)*"/g;
const GROUPING = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g;
const SELECTOR = /([a-zA-Z_:][\w:]*)?\s*\{([^}]*)\}/g;
const WORD = /[a-zA-Z_:][\w:]*/g;
const KEYWORDS = new Set([
  'and',
  'or',
  'unless',
  'bool',
  'offset',
  'by',
  'without',
  'on',
  'ignoring',
  'inf',
  'nan',
]);

/** @param expr PromQL; Grafana's variables may stand in strings and ranges */
export function mentions(expr: string): Mentions {
  const plain = expr.replace(STRING, '""').replace(/\[[^\]]*\]/g, '');
  const grouped = [...plain.matchAll(GROUPING)].flatMap(([, list = '']) => list.match(WORD) ?? []);
  const ungrouped = plain.replace(GROUPING, ' ');
  const braced = [...ungrouped.matchAll(SELECTOR)].map(([, metric = '', matchers = '']) => ({
    metric,
    labels: matchers.match(WORD) ?? [],
  }));
  const bare = ungrouped.replace(SELECTOR, ' ').replace(/\boffset\s+\w+/g, ' ');
  const names = [...bare.matchAll(/([a-zA-Z_:][\w:]*)(\s*\()?/g)].flatMap(([, name = '', call]) =>
    call !== undefined || KEYWORDS.has(name) ? [] : [{ metric: name, labels: [] }],
  );
  return { selectors: [...braced, ...names], grouped };
}
