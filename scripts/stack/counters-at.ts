import type { PrometheusApi } from './prometheus-api.js';

/**
 * The counters of one gateway as Prometheus had them at one instant. Raw values, never `increase`, which estimates; and one
 * instance, because replicas and what came before a restart are series of their own.
 */
export class CountersAt {
  constructor(
    private readonly prometheus: PrometheusApi,
    private readonly instance: string,
    /** Epoch seconds. */
    private readonly at: number,
  ) {}

  /** @param labels each as PromQL matches it: `name="value"` */
  sum(name: string, ...labels: readonly string[]): Promise<number> {
    return this.prometheus.total(`sum(${name}{${this.matching(labels)}})`, this.at);
  }

  /** Requests by team, template and outcome, where there were any: "search faq ok". */
  async outcomes(): Promise<Readonly<Record<string, number>>> {
    const by = ['weir_team', 'gen_ai_prompt_name', 'weir_outcome'];
    const samples = await this.prometheus.query(
      `sum by (${by.join()}) (weir_requests_total{${this.matching([])}}) > 0`,
      this.at,
    );
    const entries = samples.map(
      ({ metric, value }) => [by.map((label) => metric[label]).join(' '), value] as const,
    );
    return Object.fromEntries([...entries].sort());
  }

  /** Every counter and histogram, series by series, as the gateway's own `/metrics` writes it. */
  async everySeries(): Promise<ReadonlyMap<string, number>> {
    const all = '__name__=~"(weir|gen_ai|http)_.*_(total|bucket|sum|count)"';
    const samples = await this.prometheus.query(`{${this.matching([all])}}`, this.at);
    return new Map(samples.map(({ metric, value }) => [seriesOf(metric), value]));
  }

  private matching(labels: readonly string[]): string {
    return [...labels, `instance="${this.instance}"`].join();
  }
}

/** Without the labels that say where a series comes from. */
function seriesOf({
  __name__ = '',
  job: _job,
  instance: _instance,
  ...labels
}: Readonly<Record<string, string>>): string {
  return seriesName(__name__, Object.entries(labels));
}

/** One name for a series: labels in order; OpenMetrics writes the bound 1 as 1.0, the older text format as 1. */
export function seriesName(
  name: string,
  labels: readonly (readonly [label: string, value: string])[],
): string {
  const all = labels.map(
    ([label, value]) => `${label}="${label === 'le' ? value.replace(/\.0$/, '') : value}"`,
  );
  return `${name}{${all.sort().join()}}`;
}
