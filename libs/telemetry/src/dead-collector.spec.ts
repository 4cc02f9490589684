import { GatewayError, type CallIdentity } from '@weir/kernel';
import type { RetryDecision } from '@weir/retry';
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createLogger } from './logger.js';
import { startTelemetry, type Telemetry, type TelemetryOptions } from './start-telemetry.js';

const CALL: CallIdentity = {
  requestId: 'r1',
  team: 'search',
  model: 'm1',
  operation: 'chat',
  template: 'none',
  priority: 'normal',
};
const DECISION: RetryDecision = {
  identity: CALL,
  attempt: 1,
  error: new GatewayError('upstream_unavailable', 'No.'),
  delayMs: 0,
  hintMs: undefined,
  source: 'computed',
  result: 'exhausted',
};
const LABELS: TelemetryOptions['labels'] = {
  accounts: [{ id: 'main', provider: 'openai', models: [{ name: 'm1' }] }],
  routes: ['m1'],
  teams: [{ id: 'search', templates: [] }],
};
/** A hang limit, not a promise: the end is bounded at 2 s, and by half a second where the collector is known to be dead. */
const HANG_MS = 4_000;

/** Accepts connections, reads, and says nothing. */
class BlackHole {
  private readonly sockets = new Set<Socket>();
  private readonly server: Server = createServer((socket) => {
    this.sockets.add(socket.resume());
    socket.on('error', () => undefined);
  });

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** A port where nobody listens, at least for now. */
async function refusedPort(): Promise<number> {
  const hole = new BlackHole();
  const port = await hole.listen();
  await hole.close();
  return port;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

type Line = Readonly<Record<string, unknown>>;

describe('a collector that is dead', () => {
  jest.setTimeout(20_000);
  let hole: BlackHole | undefined;
  let collector: HttpServer | undefined;
  let running: Telemetry | undefined;
  let lines: Line[] = [];

  const keep = (line: string): void => {
    lines.push(JSON.parse(line) as Line);
  };

  function start(port: number, options: Partial<TelemetryOptions> = {}): Telemetry {
    running = startTelemetry({
      service: { name: 'weir-test', version: '1.2.3', instance: 'one' },
      labels: LABELS,
      endpoint: `http://user:secret@127.0.0.1:${port}`,
      logger: createLogger({ service: 't', write: keep }),
      ...options,
    });
    return running;
  }

  async function portOf(kind: 'refuses' | 'never answers'): Promise<number> {
    if (kind === 'refuses') return refusedPort();
    hole = new BlackHole();
    return hole.listen();
  }

  const warnings = (): readonly Line[] => lines.filter(({ level }) => level === 'warn');

  function spans(telemetry: Telemetry, count: number): void {
    const retries = telemetry.retryObserver();
    for (let made = 0; made < count; made += 1) retries.decided(DECISION)();
  }

  async function sample(telemetry: Telemetry, pattern: RegExp): Promise<number> {
    const text = await telemetry.metricsText();
    return [...text.matchAll(pattern)].reduce((sum, [, value]) => sum + Number(value), 0);
  }

  const dropped = (telemetry: Telemetry): Promise<number> =>
    sample(telemetry, /^otel_sdk_processor_span_processed_total\{.*error_type=.*\} (\d+)$/gm);
  const waiting = (telemetry: Telemetry): Promise<number> =>
    sample(telemetry, /^otel_sdk_processor_span_queue_size\{.*\} (\d+)$/gm);

  /** Gives up after a while, for the test to judge. */
  async function until(isGood: () => boolean | Promise<boolean>): Promise<void> {
    const end = performance.now() + HANG_MS;
    while (!(await isGood()) && performance.now() < end) await pause(10);
  }

  afterEach(async () => {
    await running?.shutdown(0);
    await hole?.close();
    collector?.closeAllConnections();
    await new Promise((resolve) => collector?.close(resolve) ?? setImmediate(resolve));
    [running, hole, collector, lines] = [undefined, undefined, undefined, []];
  });

  it.each(['refuses', 'never answers'] as const)(
    '(%s) holds up the end for two seconds at most',
    async (kind) => {
      // Longer than the end may take, and over before the other tests are.
      const telemetry = start(await portOf(kind), { exportTimeoutMs: 4_500 });
      spans(telemetry, 10);
      const before = performance.now();
      await telemetry.shutdown();
      expect(performance.now() - before).toBeLessThan(HANG_MS);
      expect(warnings()).toMatchObject([{ event: 'telemetry export fails', lost_spans: 10 }]);
    },
  );

  it.each([
    ['refuses', 'ECONNREFUSED'],
    ['never answers', 'timeout'],
  ] as const)('(%s) is told of in one line: what, where, since when, what is lost', async (kind, error) => {
    const port = await portOf(kind);
    const before = Date.now();
    const telemetry = start(port, { exportTimeoutMs: 300 });
    for (let batches = 1; batches <= 3; batches += 1) {
      spans(telemetry, 10);
      await until(async () => (await dropped(telemetry)) >= 10 * batches);
    }
    const [{ since, endpoint, lost_spans: lost, ...line } = {}, ...others] = warnings();
    expect(others).toEqual([]);
    expect(line).toMatchObject({ event: 'telemetry export fails', error, loses: 'spans', keeps: 'metrics' });
    expect(endpoint).toMatch(new RegExp(`^http://127.0.0.1:${port}/v1/(traces|metrics)$`));
    expect(lost).toBeLessThanOrEqual(10);
    const began = Date.parse(String(since));
    expect(began).toBeGreaterThanOrEqual(before - 1);
    expect(began).toBeLessThanOrEqual(Date.now());
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  it.each(['refuses', 'never answers'] as const)(
    '(%s) costs a small queue, and what is beyond it is counted',
    async (kind) => {
      const telemetry = start(await portOf(kind), { exportTimeoutMs: 300 });
      spans(telemetry, 1);
      await until(async () => (await dropped(telemetry)) > 0);
      spans(telemetry, 20_000);
      expect(await waiting(telemetry)).toBeLessThanOrEqual(2_048);
      expect(await dropped(telemetry)).toBeGreaterThanOrEqual(20_000 - 2_048);
      expect(await sample(telemetry, /^weir_retries_total\{.*weir_retry_result="exhausted"\} (\d+)$/gm)).toBe(
        20_001,
      );
    },
  );

  it('that comes back is told of, and gets spans again', async () => {
    const port = await refusedPort();
    const telemetry = start(port, { exportTimeoutMs: 300 });
    spans(telemetry, 10);
    await until(() => warnings().length > 0);
    let taken = 0;
    collector = createHttpServer((request, response) => {
      request.resume().on('end', () => {
        if (request.url === '/v1/traces') taken += 1;
        response.end();
      });
    }).listen(port, '127.0.0.1');
    await until(async () => {
      spans(telemetry, 1);
      // Metrics leave seldom, and at once where there are new labels.
      telemetry.relabel(LABELS);
      await pause(100);
      return taken > 0 && lines.some(({ event }) => event === 'telemetry export works again');
    });
    expect(lines.filter(({ event }) => event === 'telemetry export works again')).toMatchObject([
      { level: 'info', endpoint: `http://127.0.0.1:${port}`, since: warnings()[0]?.['since'] },
    ]);
    expect(warnings()).toHaveLength(1);
  });
});
