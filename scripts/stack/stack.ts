import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { collectorBinary } from '../collector-binary.js';
import { PrometheusApi } from './prometheus-api.js';
import { until } from './until.js';

const ROOT = join(__dirname, '../..');
/** Whatever should listen or answer does it within this, on a machine that has more to do. */
const STARTING_MS = 120_000;
const KEPT_CHARACTERS = 4_000;

/** Where everything of one run listens, on loopback. */
interface Ports {
  readonly simulator: number;
  readonly gateway: number;
  readonly prometheus: number;
  /** Of the collector, by the variable of collector.yaml. */
  readonly collector: Readonly<Record<'GRPC' | 'HTTP' | 'HEALTH' | 'PROMETHEUS' | 'SELF', number>>;
}

/** What compose starts, as processes of this machine: the same files, with the addresses of loopback. */
export class Stack {
  readonly prometheus: PrometheusApi;
  /** The end of what the processes wrote to their error streams. */
  private complaints = '';
  private collector: ChildProcess | undefined;
  private readonly children: ChildProcess[] = [];
  private readonly folder = mkdtempSync(join(tmpdir(), 'weir-stack-'));

  private constructor(private readonly ports: Ports) {
    this.prometheus = new PrometheusApi(`http://127.0.0.1:${ports.prometheus}`);
  }

  /** @returns a stack whose every part answers */
  static async start(): Promise<Stack> {
    const stack = new Stack(await freePorts());
    try {
      await stack.open();
      return stack;
    } catch (failure) {
      await stack.stop();
      throw new Error(stack.complaints, { cause: failure });
    }
  }

  get simulatorUrl(): string {
    return `http://127.0.0.1:${this.ports.simulator}`;
  }

  /** Where the collector takes OTLP over HTTP. */
  get collectorUrl(): string {
    return `http://127.0.0.1:${this.ports.collector.HTTP}`;
  }

  /** Takes the collector away without a word: what it has in memory is gone. */
  async killCollector(): Promise<void> {
    if (this.collector !== undefined) await ended(this.collector, 'SIGKILL');
  }

  /** @returns when it is ready to take what comes */
  async startCollector(): Promise<void> {
    const { collector } = this.ports;
    this.collector = this.run(collectorBinary() ?? 'otelcol', ['--config', 'otel/collector.yaml'], {
      ...Object.fromEntries(
        Object.entries(collector).map(([name, port]) => [`OTELCOL_${name}_PORT`, String(port)]),
      ),
      OTELCOL_DECISION_WAIT: '5s',
      // Nobody listens there: a stack without Jaeger.
      OTELCOL_JAEGER: '127.0.0.1:9',
    });
    await answers(`http://127.0.0.1:${collector.HEALTH}/`);
  }

  /**
   * Sends the demo traffic of compose's profile `load`.
   *
   * @param throttled share of calls that the simulator refuses
   * @returns ends it at once: requests that run are left by their callers
   */
  traffic(rps: number, throttled: number): () => Promise<void> {
    const child = this.run(process.execPath, ['scripts/demo-traffic.mjs'], {
      WEIR_URL: `http://127.0.0.1:${this.ports.gateway}`,
      SIMULATOR_URL: this.simulatorUrl,
      LOAD_RPS: String(rps),
      LOAD_THROTTLED: String(throttled),
      LOAD_MINUTES: '14',
    });
    return () => ended(child);
  }

  /** Ends every process, and forgets what they wrote. */
  async stop(): Promise<void> {
    await Promise.all(this.children.map((child) => ended(child)));
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async open(): Promise<void> {
    const { simulator, gateway, prometheus } = this.ports;
    this.run(process.execPath, ['--import', 'tsx', 'apps/simulator/src/main.ts'], {
      SIMULATOR_PORT: String(simulator),
    });
    await this.startCollector();
    this.run('prometheus', this.prometheusArguments());
    await answers(`${this.simulatorUrl}/_sim/ledger`);
    this.run(process.execPath, ['--import', 'tsx', 'apps/gateway/src/main.ts'], {
      WEIR_CONFIG: 'otel/weir.yaml',
      WEIR_PORT: String(gateway),
      WEIR_LOG_LEVEL: 'error',
      SIMULATOR_URL: this.simulatorUrl,
      OTEL_EXPORTER_OTLP_ENDPOINT: this.collectorUrl,
    });
    await answers(`http://127.0.0.1:${gateway}/readyz`);
    await answers(`http://127.0.0.1:${prometheus}/-/ready`);
  }

  /** The rules go in as they are; of prometheus.yml only the three addresses change. */
  private prometheusArguments(): string[] {
    const { prometheus, collector } = this.ports;
    cpSync(join(ROOT, 'otel/rules'), join(this.folder, 'rules'), { recursive: true });
    const config = readFileSync(join(ROOT, 'otel/prometheus.yml'), 'utf8')
      .replace('collector:8889', `127.0.0.1:${collector.PROMETHEUS}`)
      .replace('collector:8888', `127.0.0.1:${collector.SELF}`)
      .replace('127.0.0.1:9090', `127.0.0.1:${prometheus}`);
    writeFileSync(join(this.folder, 'prometheus.yml'), config);
    return [
      `--config.file=${join(this.folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(this.folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${prometheus}`,
      '--enable-feature=exemplar-storage',
      '--log.level=error',
    ];
  }

  private run(
    command: string,
    args: readonly string[],
    environment: Readonly<Record<string, string>> = {},
  ): ChildProcess {
    const { PATH = '', HOME = '' } = process.env;
    const child = spawn(command, [...args], {
      cwd: ROOT,
      env: { PATH, HOME, ...environment },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child.stderr.on('data', (chunk: Buffer) => {
      this.complaints = `${this.complaints}${chunk.toString()}`.slice(-KEPT_CHARACTERS);
    });
    this.children.push(child);
    return child;
  }
}

async function freePorts(): Promise<Ports> {
  const servers = Array.from({ length: 8 }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = servers.map(
    (server) => (server.address() as AddressInfo).port,
  );
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  const collector = { GRPC: d, HTTP: e, HEALTH: f, PROMETHEUS: g, SELF: h };
  return { simulator: a, gateway: b, prometheus: c, collector };
}

async function answers(url: string): Promise<void> {
  const answered = await until(
    () =>
      fetch(url).then(
        ({ ok }) => ok,
        () => false,
      ),
    STARTING_MS,
  );
  if (!answered) throw new Error(`${url} does not answer.`);
}

async function ended(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  const late = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await exit;
  clearTimeout(late);
}
