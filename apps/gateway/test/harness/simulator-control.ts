import { send } from './http-caller.js';

/** One line of the simulator's ledger. */
export interface Tally {
  readonly received: number;
  readonly admitted: number;
  readonly completed: number;
  readonly aborted: number;
  readonly rejected: Readonly<Record<'requests' | 'tokens' | 'concurrency' | 'daily' | 'fault', number>>;
  readonly tokens: { readonly prompt: number; readonly completion: number };
  readonly peakRequests: number;
  readonly peakTokens: number;
  readonly peakConcurrent: number;
}

interface Ledger {
  readonly keys: Readonly<
    Record<string, { readonly models: Readonly<Record<string, Tally>>; readonly total: Tally }>
  >;
}

const NOTHING: Tally = {
  received: 0,
  admitted: 0,
  completed: 0,
  aborted: 0,
  rejected: { requests: 0, tokens: 0, concurrency: 0, daily: 0, fault: 0 },
  tokens: { prompt: 0, completion: 0 },
  peakRequests: 0,
  peakTokens: 0,
  peakConcurrent: 0,
};

/** The key with which the gateways of these tests call the simulator. */
export const SIM_KEY = 'sim-key';

/** The simulator's control API, as anybody outside uses it. */
export class SimulatorControl {
  constructor(readonly url: string) {}

  /** Everything that came with the gateway's key. */
  async total(): Promise<Tally> {
    return this.ofKey(SIM_KEY);
  }

  async ofKey(key: string): Promise<Tally> {
    return (await this.ledger()).keys[key]?.total ?? NOTHING;
  }

  async ofModel(model: string): Promise<Tally> {
    return (await this.ledger()).keys[SIM_KEY]?.models[model] ?? NOTHING;
  }

  async reset(): Promise<void> {
    await this.put('POST', '/_sim/reset', {});
  }

  /** The faults of the next calls, in order. */
  async faults(...faults: readonly object[]): Promise<void> {
    await this.put('POST', '/_sim/faults', { faults });
  }

  /** How many of them nobody has met yet. */
  async pendingFaults(): Promise<number> {
    const { faults } = (await send(`${this.url}/_sim/faults`)).json as { faults: readonly object[] };
    return faults.length;
  }

  async behaviour(changes: object): Promise<void> {
    await this.put('PUT', '/_sim/behaviour', changes);
  }

  async quota(changes: object): Promise<void> {
    await this.put('PUT', '/_sim/quota', changes);
  }

  private async ledger(): Promise<Ledger> {
    return (await send(`${this.url}/_sim/ledger`)).json as Ledger;
  }

  private async put(method: string, path: string, body: object): Promise<void> {
    const reply = await send(`${this.url}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (reply.status >= 300) throw new Error(`${path} answered ${reply.status}: ${reply.text}`);
  }
}

/** Calls that neither ended nor were refused. */
export function running({ received, completed, aborted, rejected }: Tally): number {
  return received - completed - aborted - Object.values(rejected).reduce((sum, count) => sum + count, 0);
}
