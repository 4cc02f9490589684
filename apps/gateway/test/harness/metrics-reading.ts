import { send } from './http-caller.js';

/** Samples of `/metrics` by name and labels, as they stand in the text. */
export type Metrics = ReadonlyMap<string, number>;

/** Reads the metrics of a gateway. */
export async function readMetrics(gatewayUrl: string): Promise<Metrics> {
  const { text } = await send(`${gatewayUrl}/metrics`);
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    samples.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

/** The sum of a family's samples whose labels contain all of these. */
export function sumOf(metrics: Metrics, name: string, ...labels: readonly string[]): number {
  const samples = [...metrics].filter(
    ([sample]) =>
      (sample === name || sample.startsWith(`${name}{`)) && labels.every((label) => sample.includes(label)),
  );
  return samples.reduce((all, [, value]) => all + value, 0);
}

/** The label of a model. */
export function ofModel(model: string): string {
  return `gen_ai_request_model="${model}"`;
}

/** Requests by team, template and outcome, where there were any: "search faq ok". */
export function outcomesOf(metrics: Metrics): Readonly<Record<string, number>> {
  const sums = new Map<string, number>();
  for (const [sample, value] of metrics) {
    const found =
      /^weir_requests_total\{.*weir_team="(.*?)",gen_ai_prompt_name="(.*?)",.*weir_outcome="(.*?)"\}$/.exec(
        sample,
      );
    if (found === null || value === 0) continue;
    const key = found.slice(1).join(' ');
    sums.set(key, (sums.get(key) ?? 0) + value);
  }
  return Object.fromEntries([...sums].sort());
}
