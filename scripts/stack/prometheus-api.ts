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

/** What tests ask Prometheus. */
export class PrometheusApi {
  constructor(private readonly url: string) {}

  /** @throws where Prometheus finds a fault in the query */
  async query(expr: string): Promise<readonly Sample[]> {
    const answer = await this.get<{ result: { metric: Record<string, string>; value: [number, string] }[] }>(
      `query?${new URLSearchParams({ query: expr }).toString()}`,
    );
    return answer.result.map(({ metric, value: [, value] }) => ({ metric, value: Number(value) }));
  }

  /** @returns the sum of what `expr` gives; 0 where it gives nothing */
  async total(expr: string): Promise<number> {
    return (await this.query(expr)).reduce((sum, { value }) => sum + value, 0);
  }

  async rules(): Promise<readonly EvaluatedRule[]> {
    const { groups } = await this.get<{ groups: { rules: EvaluatedRule[] }[] }>('rules');
    return groups.flatMap(({ rules }) => rules);
  }

  private async get<Data>(path: string): Promise<Data> {
    const response = await fetch(`${this.url}/api/v1/${path}`);
    const { status, error, data } = (await response.json()) as Answer<Data>;
    if (status !== 'success') throw new Error(`${decodeURIComponent(path)}: ${error}`);
    return data;
  }
}
