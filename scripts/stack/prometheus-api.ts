/** One series of an instant query. */
export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A rule as Prometheus has evaluated it. */
export interface EvaluatedRule {
  readonly name: string;
  readonly health: 'ok' | 'err' | 'unknown';
  readonly lastError?: string;
  /** Of alerts. */
  readonly state?: 'inactive' | 'pending' | 'firing';
}

interface Answer<Data> {
  readonly status: string;
  readonly error?: string;
  readonly data: Data;
}

/** As far apart as scrapes. */
const STEP_SECONDS = 15;

/** What tests ask Prometheus. */
export class PrometheusApi {
  constructor(private readonly url: string) {}

  /**
   * @param at epoch seconds; now where left out
   * @throws where Prometheus finds a fault in the query
   */
  async query(expr: string, at?: number): Promise<readonly Sample[]> {
    const answer = await this.get<{ result: { metric: Record<string, string>; value: [number, string] }[] }>(
      'query',
      { query: expr, ...(at === undefined ? {} : { time: String(at) }) },
    );
    return answer.result.map(({ metric, value: [, value] }) => ({ metric, value: Number(value) }));
  }

  /** @returns the sum of what `expr` gives; 0 where it gives nothing */
  async total(expr: string, at?: number): Promise<number> {
    return (await this.query(expr, at)).reduce((sum, { value }) => sum + value, 0);
  }

  /** @returns every value of every series between two instants, in epoch seconds, as a graph asks for them */
  async values(expr: string, from: number, to: number): Promise<readonly number[]> {
    const answer = await this.get<{ result: { values: [number, string][] }[] }>('query_range', {
      query: expr,
      start: String(from),
      end: String(to),
      step: String(STEP_SECONDS),
    });
    return answer.result.flatMap(({ values }) => values.map(([, value]) => Number(value)));
  }

  async rules(): Promise<readonly EvaluatedRule[]> {
    const { groups } = await this.get<{ groups: { rules: EvaluatedRule[] }[] }>('rules');
    return groups.flatMap(({ rules }) => rules);
  }

  private async get<Data>(path: string, parameters: Readonly<Record<string, string>> = {}): Promise<Data> {
    const response = await fetch(`${this.url}/api/v1/${path}?${new URLSearchParams(parameters).toString()}`);
    const { status, error, data } = (await response.json()) as Answer<Data>;
    if (status !== 'success') throw new Error(`${parameters['query'] ?? path}: ${error}`);
    return data;
  }
}
