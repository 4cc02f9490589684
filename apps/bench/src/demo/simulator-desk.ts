import { z } from 'zod';

const Line = z.object({
  received: z.number(),
  admitted: z.number(),
  completed: z.number(),
  aborted: z.number(),
  rejected: z.object({
    requests: z.number(),
    tokens: z.number(),
    concurrency: z.number(),
    daily: z.number(),
    fault: z.number(),
  }),
  peakRequests: z.number(),
});
const Ledger = z.object({
  keys: z.record(z.string(), z.object({ total: Line, models: z.record(z.string(), Line) })),
});

/** One line of the simulator's ledger. */
export type LedgerLine = z.infer<typeof Line>;

/** What the simulator counted for one key. */
export interface KeyLedger {
  readonly total: LedgerLine;
  readonly models: Readonly<Record<string, LedgerLine>>;
}

/** The control desk of a simulator. */
export class SimulatorDesk {
  constructor(private readonly url: string) {}

  /** Forgets everything, then sets the quota of every key and how the model speaks. */
  async begin(quota: object, behaviour: object): Promise<void> {
    await this.call('POST', 'reset');
    await this.call('PUT', 'quota', quota);
    await this.call('PUT', 'behaviour', behaviour);
  }

  /** @throws where nobody has called with this key */
  async ledger(key: string): Promise<KeyLedger> {
    const found = Ledger.parse(await this.call('GET', 'ledger')).keys[key];
    if (!found) throw new Error(`The simulator has no ledger of the key ${key}.`);
    return found;
  }

  private async call(method: string, path: string, body?: object): Promise<unknown> {
    const init = body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const response = await fetch(`${this.url}/_sim/${path}`, { method, ...init });
    if (!response.ok) throw new Error(`The simulator refused ${method} ${path}: ${await response.text()}`);
    return response.json();
  }
}

/** Calls that were refused, for whatever reason. */
export function refusals({ rejected }: LedgerLine): number {
  return Object.values(rejected).reduce((sum, count) => sum + count, 0);
}
