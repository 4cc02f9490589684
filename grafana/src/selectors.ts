import { ATTRIBUTES as A, prometheusLabel, prometheusName, type MetricDescription } from '@weir/telemetry';

/** A matcher of one label, such as `="ok"` or `=~"exhausted|budget_denied"`. */
export type Matcher = `${'=' | '!=' | '=~' | '!~'}"${string}"`;

/** Which template variable narrows which attribute. A dashboard's panels react to these wherever the metric has the label. */
const VARIABLE_OF: Readonly<Record<string, string>> = {
  [A.provider]: 'provider',
  [A.requestModel]: 'model',
  [A.team]: 'team',
  [A.promptName]: 'template',
  [A.priority]: 'priority',
};

/** What a metric is called in PromQL; a histogram has three names. */
type Part = 'bucket' | 'sum' | 'count';

/** How to pick series of one metric. */
export interface Pick {
  /** Matchers by attribute, beside those of the variables. */
  readonly where?: Readonly<Record<string, Matcher>>;
  readonly part?: Part;
}

/**
 * @returns a selector of `metric`, narrowed by every variable that it has a label for
 * @throws where the metric has no such label: a dashboard that asks for one would stay empty
 */
export function series(metric: MetricDescription, { where = {}, part }: Pick = {}): string {
  for (const attribute of Object.keys(where))
    if (!metric.labels.includes(attribute)) throw new Error(`${metric.name} has no label ${attribute}.`);
  const narrowed = metric.labels
    .filter((attribute) => where[attribute] === undefined)
    .flatMap((attribute) => {
      const variable = VARIABLE_OF[attribute];
      return variable === undefined ? [] : [`${prometheusLabel(attribute)}=~"$${variable}"`];
    });
  const matched = Object.entries(where).map(
    ([attribute, matcher]) => `${prometheusLabel(attribute)}${matcher}`,
  );
  return selector(metric, part, [...narrowed, ...matched]);
}

/**
 * The same for the gauges of dimensions. Those of a whole account have the model `*`, those of a team no account, and the
 * rest no team: a choice of model, provider or team keeps what applies to it.
 */
export function dimension(metric: MetricDescription, where: Readonly<Record<string, Matcher>> = {}): string {
  const chosen = [
    [A.provider, '$provider|'],
    [A.requestModel, '$model|[*]'],
    [A.team, '$team|'],
  ]
    .filter(([attribute = '']) => metric.labels.includes(attribute) && where[attribute] === undefined)
    .map(([attribute = '', choice = '']) => `${prometheusLabel(attribute)}=~"${choice}"`);
  const matched = Object.entries(where).map(
    ([attribute, matcher]) => `${prometheusLabel(attribute)}${matcher}`,
  );
  return selector(metric, undefined, [...chosen, ...matched]);
}

/** @returns the query of a variable: the values of a label, over every metric that has it */
export function labelValues(
  attribute: string,
  metrics: readonly MetricDescription[],
  where: Readonly<Record<string, Matcher>> = {},
): string {
  const names = metrics.map(prometheusName);
  const matchers = Object.entries(where).map(([of, matcher]) => `${prometheusLabel(of)}${matcher}`);
  const all = names.length > 1 ? [`__name__=~"${names.join('|')}"`, ...matchers] : matchers;
  const name = names.length > 1 ? '' : (names[0] ?? '');
  const selected = all.length === 0 ? name : `${name}{${all.join(',')}}`;
  return `label_values(${selected}, ${prometheusLabel(attribute)})`;
}

/** @returns `sum by (labels) (rate(…))`, per second over the panel's own interval */
export function rateBy(attributes: readonly string[], metric: MetricDescription, pick: Pick = {}): string {
  return `${sumBy(attributes)} (rate(${series(metric, pick)}[$__rate_interval]))`;
}

/** @returns `sum by (labels) (increase(…))` over the time range of the dashboard */
export function totalBy(attributes: readonly string[], metric: MetricDescription, pick: Pick = {}): string {
  return `${sumBy(attributes)} (increase(${series(metric, pick)}[$__range]))`;
}

/** @returns the quantile of a histogram, by labels, over the panel's own interval */
export function quantileBy(
  quantile: number,
  attributes: readonly string[],
  metric: MetricDescription,
  pick: Pick = {},
): string {
  const by = ['le', ...attributes.map(prometheusLabel)].join(', ');
  const buckets = series(metric, { ...pick, part: 'bucket' });
  return `histogram_quantile(${quantile}, sum by (${by}) (rate(${buckets}[$__rate_interval])))`;
}

/** @returns `sum by (labels)`, or `sum` without any */
export function sumBy(attributes: readonly string[]): string {
  return attributes.length === 0 ? 'sum' : `sum by (${attributes.map(prometheusLabel).join(', ')})`;
}

/** @returns a legend that shows these labels, such as `{{weir_team}} {{gen_ai_prompt_name}}` */
export function legend(...attributes: readonly string[]): string {
  return attributes.map((attribute) => `{{${prometheusLabel(attribute)}}}`).join(' ');
}

function selector(metric: MetricDescription, part: Part | undefined, matchers: readonly string[]): string {
  const name = [prometheusName(metric), ...(part === undefined ? [] : [part])].join('_');
  return matchers.length === 0 ? name : `${name}{${matchers.join(',')}}`;
}
