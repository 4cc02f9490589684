import { digestKey, loadConfig, NOT_BUILT_YET, type GatewayConfig } from '@weir/config';
import type { Random } from '@weir/kernel';
import type { LimiterStatus } from '@weir/limiter';
import { createLogger, startTelemetry } from '@weir/telemetry';
import { startSimulator } from '../../../simulator/src/simulator.module.js';
import { startGateway, type RunningGateway } from '../../src/main.js';
import { labelsOf } from '../../src/wiring/labels.js';
import { CountedTime } from './counted-time.js';
import { open, send, type Reply } from './http-caller.js';
import { SIM_KEY, SimulatorControl } from './simulator-control.js';
import { SpanLog } from './span-log.js';
import type { IncomingMessage } from 'node:http';

/** What a test wants of its house; everything else is unlimited, short and quiet. */
export interface HouseOptions {
  /** Changes to the one account, `main`. */
  readonly account?: object;
  /** Several accounts instead: changes to each. */
  readonly accounts?: readonly object[];
  readonly routes?: object;
  readonly teams?: readonly object[];
  readonly queue?: object;
  readonly retry?: object;
  readonly timeouts?: object;
  readonly breaker?: object;
  readonly server?: object;
  /** Another provider than the simulator: its base URL. */
  readonly baseUrl?: string;
}

/** What `/admin/v1/status` says. */
export interface Status {
  readonly draining: boolean;
  readonly answers: { readonly open: number; readonly bufferedBytes: number };
  readonly limiter: LimiterStatus;
  readonly breakers: readonly {
    readonly account: string;
    readonly model: string;
    readonly state: string;
    readonly until?: number;
  }[];
  readonly parked: readonly {
    readonly account: string;
    readonly model?: string;
    readonly reason: string;
    readonly until?: number;
  }[];
}

export type Headers = Readonly<Record<string, string>>;

export const TEAM_KEY = 'team-key';
export const OTHER_TEAM_KEY = 'other-team-key';
export const ADMIN_KEY = 'admin-key';
export const MODEL = 'gpt-4o';
export const OTHER_MODEL = 'gpt-4o-mini';

/** Jitter stays, and stays short: hints are floors whatever chance says. */
const LOW: Random = { next: () => 0.1 };

/** Simulator and gateway, really listening, in this process. */
export class House {
  readonly logLines: string[] = [];
  readonly spans = new SpanLog();
  readonly time = new CountedTime();
  private closing: Promise<void> | undefined;

  private constructor(
    readonly sim: SimulatorControl,
    private readonly closeSimulator: () => Promise<void>,
    readonly config: GatewayConfig,
  ) {
    this.live = { current: config };
  }

  gateway!: RunningGateway;
  private readonly live: { current: GatewayConfig };

  static async start(options: HouseOptions = {}): Promise<House> {
    const simulator = await startSimulator({ port: 0 });
    const config = configOf(options, options.baseUrl ?? `${simulator.url}/v1`);
    const house = new House(new SimulatorControl(simulator.url), () => simulator.close(), config);
    const logger = createLogger({
      service: 'weir-gateway',
      write: (line) => {
        house.logLines.push(line);
      },
    });
    const { time } = house;
    house.gateway = await startGateway(house.live, {
      telemetry: startTelemetry({
        service: { name: 'weir', version: '0', instance: 'test' },
        labels: labelsOf(config),
        sinks: [house.spans],
        logger,
      }),
      logger,
      time,
      random: LOW,
    });
    return house;
  }

  get url(): string {
    return this.gateway.url;
  }

  get chatUrl(): string {
    return `${this.url}/v1/chat/completions`;
  }

  /** Posts a chat request and reads the whole answer. */
  chat(body: object | string | Uint8Array, headers: Headers = {}): Promise<Reply> {
    return send(this.chatUrl, { headers: chatHeaders(headers), body: asBody(body) });
  }

  /** Posts a chat request; resolves with the head of the answer. */
  openChat(body: object, headers: Headers = {}, signal?: AbortSignal): Promise<IncomingMessage> {
    return open(this.chatUrl, {
      headers: chatHeaders(headers),
      body: asBody(body),
      ...(signal === undefined ? {} : { signal }),
    });
  }

  async status(): Promise<Status> {
    const reply = await send(`${this.url}/admin/v1/status`, {
      headers: { authorization: `Bearer ${ADMIN_KEY}` },
    });
    return reply.json as Status;
  }

  /** Samples of `/metrics` by name and labels, as they stand in the text. */
  async metrics(): Promise<ReadonlyMap<string, number>> {
    const { text } = await send(`${this.url}/metrics`);
    const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    return new Map(
      samples.map((line) => [
        line.slice(0, line.lastIndexOf(' ')),
        Number(line.slice(line.lastIndexOf(' '))),
      ]),
    );
  }

  /** Settles once nothing is open in the gateway, and returns what it then says of itself. */
  async quiet(): Promise<Status> {
    return eventually(
      () => this.status(),
      ({ answers, limiter }) => answers.open === 0 && limiter.open === 0 && limiter.waiting === 0,
    );
  }

  /** What a reload of the same file does: parked accounts are called again. */
  reload(): void {
    this.live.current = { ...this.config };
  }

  close(): Promise<void> {
    this.closing ??= this.gateway.stop(0).then(() => this.closeSimulator());
    return this.closing;
  }
}

/** Asks again until the answer is as wanted; the last answer comes back where it never is, for the test to judge. */
export async function eventually<T>(
  ask: () => Promise<T>,
  isGood: (value: T) => boolean,
  ms = 5000,
): Promise<T> {
  const end = performance.now() + ms;
  for (;;) {
    const value = await ask();
    if (isGood(value) || performance.now() > end) return value;
    await pause(20);
  }
}

/** For real time on loopback only. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** A question of one message. */
export function question(changes: object = {}, content = 'hello'): object {
  return { model: MODEL, messages: [{ role: 'user', content }], ...changes };
}

function chatHeaders(headers: Headers): Headers {
  return { authorization: `Bearer ${TEAM_KEY}`, 'content-type': 'application/json', ...headers };
}

function asBody(body: object | string | Uint8Array): string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
}

function configOf(options: HouseOptions, baseUrl: string): GatewayConfig {
  const file = {
    accounts: (options.accounts ?? [options.account]).map((changes) => ({
      id: 'main',
      profile: 'generic',
      baseUrl,
      apiKey: SIM_KEY,
      models: { [MODEL]: {}, [OTHER_MODEL]: {} },
      ...changes,
    })),
    ...(options.routes === undefined ? {} : { routes: options.routes }),
    teams: options.teams ?? [
      { id: 'search', keys: [digestKey(TEAM_KEY)] },
      { id: 'chat', keys: [digestKey(OTHER_TEAM_KEY)] },
    ],
    server: { adminKeys: [digestKey(ADMIN_KEY)], ...options.server },
    queue: { delaySpreadMs: 0, ...options.queue },
    ...(options.retry === undefined ? {} : { retry: options.retry }),
    ...(options.timeouts === undefined ? {} : { timeouts: options.timeouts }),
    ...(options.breaker === undefined ? {} : { breaker: options.breaker }),
  };
  // JSON is YAML: the same loader and the same checks as for a file.
  const env = { WEIR_CONFIG: 'weir.yaml', WEIR_PORT: '0' };
  return loadConfig(env, () => JSON.stringify(file), { unsupported: NOT_BUILT_YET });
}
