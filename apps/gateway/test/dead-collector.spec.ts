import { createServer, type AddressInfo, type Socket } from 'node:net';
import { digestKey } from '@weir/config';
import { startSimulator, type RunningSimulator } from '../../simulator/src/simulator.module.js';
import { GatewayProcess, OtlpReceiver } from './harness/gateway-process.js';
import { send } from './harness/http-caller.js';
import { MODEL, question, TEAM_KEY } from './harness/house.js';
import { readMetrics, sumOf } from './harness/metrics-reading.js';
import { SIM_KEY } from './harness/simulator-control.js';

jest.setTimeout(60_000);

/** A hang limit: the end waits 2 s at most for the collector, and a machine that does other things needs time as well. */
const HANG_MS = 4_500;

let simulator: RunningSimulator;
let gateway: GatewayProcess;
let closeCollector: () => Promise<void>;

beforeAll(async () => {
  simulator = await startSimulator({ port: 0 });
});
afterEach(async () => {
  await gateway.dispose();
  await closeCollector();
});
afterAll(() => simulator.close());

function start(collector: string): Promise<string> {
  gateway = new GatewayProcess(
    { OTEL_EXPORTER_OTLP_ENDPOINT: collector },
    {
      accounts: [
        {
          id: 'main',
          baseUrl: `${simulator.url}/v1`,
          apiKey: SIM_KEY,
          limits: { concurrency: 8 },
          models: { [MODEL]: {} },
        },
      ],
      teams: [{ id: 'search', keys: [digestKey(TEAM_KEY)] }],
    },
  );
  return gateway.url();
}

async function ask(url: string): Promise<number> {
  const headers = { authorization: `Bearer ${TEAM_KEY}` };
  const body = JSON.stringify(question());
  return (await send(`${url}/v1/chat/completions`, { headers, body })).status;
}

function warnings(): readonly object[] {
  return gateway.output
    .split('\n')
    .filter((line) => line.includes('"level":"warn"'))
    .map((line) => JSON.parse(line) as object);
}

/** An address that takes connections and says nothing, or where nobody listens. */
async function deadCollector(kind: 'refuses' | 'never answers'): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.resume());
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  closeCollector = async () => {
    for (const socket of sockets) socket.destroy();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  if (kind === 'refuses') await closeCollector();
  return `http://127.0.0.1:${port}`;
}

describe('a gateway whose collector', () => {
  it.each(['refuses', 'never answers'] as const)(
    '%s serves as ever, says so once, and ends soon',
    async (kind) => {
      const url = await start(await deadCollector(kind));
      expect([await ask(url), await ask(url)]).toEqual([200, 200]);
      expect(sumOf(await readMetrics(url), 'weir_requests_total', 'weir_outcome="ok"')).toBe(2);

      const before = performance.now();
      gateway.kill('SIGTERM');
      expect(await gateway.exited).toEqual({ code: 0, signal: null });
      expect(performance.now() - before).toBeLessThan(HANG_MS);
      expect(warnings()).toMatchObject([
        { event: 'telemetry export fails', error: 'timeout', loses: 'spans', keeps: 'metrics' },
      ]);
    },
  );

  it('listens sees every series at zero before anything is asked', async () => {
    const otlp = await OtlpReceiver.start();
    closeCollector = () => otlp.stop();
    await start(otlp.url);
    // Long before the first interval is over.
    const end = performance.now() + 10_000;
    while (otlp.text('/v1/metrics') === '' && performance.now() < end)
      await new Promise((resolve) => setTimeout(resolve, 20));
    const first = otlp.text('/v1/metrics');
    for (const name of ['weir.requests', 'weir.upstream.attempts', 'weir.retries', 'weir.refunds'])
      expect(first).toContain(name);
    expect(warnings()).toEqual([]);
  });
});
