import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IncomingMessage } from 'node:http';
import { digestKey } from '@weir/config';
import { startSimulator, type RunningSimulator } from '../../simulator/src/simulator.module.js';
import { GatewayProcess, OtlpReceiver } from './harness/gateway-process.js';
import { errorIn, open, readAll, send, type Reply } from './harness/http-caller.js';
import { eventually, MODEL, question, TEAM_KEY } from './harness/house.js';
import { SimulatorControl, SIM_KEY } from './harness/simulator-control.js';

jest.setTimeout(60_000);

let simulator: RunningSimulator;
let sim: SimulatorControl;
let running: GatewayProcess[] = [];
let otlp: OtlpReceiver | undefined;

beforeAll(async () => {
  simulator = await startSimulator({ port: 0 });
  sim = new SimulatorControl(simulator.url);
});
afterAll(() => simulator.close());
afterEach(async () => {
  await Promise.all(running.map((gateway) => gateway.dispose()));
  running = [];
  await otlp?.stop();
  await sim.reset();
});

function config(server: object = {}): object {
  return {
    accounts: [
      {
        id: 'main',
        baseUrl: `${simulator.url}/v1`,
        apiKey: SIM_KEY,
        limits: { concurrency: 1 },
        models: { [MODEL]: {} },
      },
    ],
    teams: [{ id: 'search', keys: [digestKey(TEAM_KEY)] }],
    server: { adminKeys: [digestKey('admin-key')], ...server },
    queue: { delaySpreadMs: 0 },
  };
}

function start(env: Readonly<Record<string, string>>, file?: object | string): GatewayProcess {
  const gateway = new GatewayProcess(env, file);
  running.push(gateway);
  return gateway;
}

const headers = { authorization: `Bearer ${TEAM_KEY}`, 'content-type': 'application/json' };

function stream(url: string): Promise<IncomingMessage> {
  return open(`${url}/v1/chat/completions`, { headers, body: JSON.stringify(question({ stream: true })) });
}

function chat(url: string): Promise<Reply> {
  return send(`${url}/v1/chat/completions`, { headers, body: JSON.stringify(question()) });
}

function waiting(url: string): Promise<number> {
  return send(`${url}/admin/v1/status`, { headers: { authorization: 'Bearer admin-key' } }).then(
    ({ json }) => (json as { limiter: { waiting: number } }).limiter.waiting,
  );
}

describe('SIGTERM', () => {
  it('keeps what was spent over a planned restart, for one start', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-state-'));
    const env = { WEIR_STATE_FILE: join(folder, 'state.json') };
    const account = { limits: { requestsPerMinute: 100 }, models: { [MODEL]: {} } };
    const file = {
      ...config(),
      accounts: [{ id: 'main', baseUrl: `${simulator.url}/v1`, apiKey: SIM_KEY, ...account }],
    };
    const used = async (gateway: GatewayProcess): Promise<number | undefined> => {
      const reply = await send(`${await gateway.url()}/admin/v1/status`, {
        headers: { authorization: 'Bearer admin-key' },
      });
      const { limiter } = reply.json as { limiter: { dimensions: { id: string; used: number }[] } };
      return limiter.dimensions.find(({ id }) => id === 'account:main:requests')?.used;
    };
    try {
      const first = start(env, file);
      expect((await chat(await first.url())).status).toBe(200);
      const spent = await used(first);
      first.kill('SIGTERM');
      expect(await first.exited).toEqual({ code: 0, signal: null });
      expect(existsSync(env.WEIR_STATE_FILE)).toBe(true);

      const second = start(env, file);
      expect(await used(second)).toBeLessThanOrEqual(spent ?? NaN);
      expect(second.output).toContain('limiter restored');
      expect(existsSync(env.WEIR_STATE_FILE)).toBe(false);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('drains: new work and waiters are refused, a running stream ends whole, telemetry is flushed, exit 0', async () => {
    otlp = await OtlpReceiver.start();
    const gateway = start({ OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url }, config());
    const url = await gateway.url();
    expect([(await send(`${url}/healthz`)).status, (await send(`${url}/readyz`)).status]).toEqual([200, 200]);

    // More than sockets hold: as long as nobody reads, it runs.
    await sim.behaviour({ frames: 400, frameBytes: 65_536 });
    const incoming = await stream(url);
    const waiter = chat(url);
    await eventually(
      () => waiting(url),
      (count) => count === 1,
    );
    gateway.kill('SIGTERM');
    const refusedWaiter = await waiter;
    const ready = await send(`${url}/readyz`);
    const alive = await send(`${url}/healthz`);
    const refused = await chat(url);
    const text = (await readAll(incoming)).toString();
    const exit = await gateway.exited;

    expect([alive.status, ready.status]).toEqual([200, 503]);
    for (const reply of [refusedWaiter, refused]) {
      expect(reply.status).toBe(503);
      expect(reply.headers).toMatchObject({ 'x-weir-reason': 'draining', 'x-weir-origin': 'gateway' });
      expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
      expect(errorIn(reply.text).code).toBe('draining');
    }
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(exit).toEqual({ code: 0, signal: null });
    expect(await sim.total()).toMatchObject({ received: 1, completed: 1 });
    const traces = otlp.text('/v1/traces');
    for (const name of ['POST /v1/chat/completions', `chat ${MODEL}`, 'weir.queue.wait', 'weir.stream']) {
      expect(traces).toContain(name);
    }
    expect(otlp.text('/v1/metrics')).toContain('weir.requests');
    expect(traces).not.toMatch(/team-key|sim-key|hello/);
  });

  it('cuts a stream that is longer than drainMs, in a way that its caller can tell, and still ends', async () => {
    const gateway = start({}, config({ drainMs: 300 }));
    const url = await gateway.url();
    await sim.behaviour({ frames: 10_000, tokensPerSecond: 100 });
    const incoming = await stream(url);
    const whole = readAll(incoming).then(
      (body) => body.toString(),
      () => 'cut',
    );
    gateway.kill('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
    expect(await whole).not.toContain('[DONE]');
    await eventually(
      () => sim.total(),
      ({ aborted }) => aborted === 1,
    );
    expect(await sim.total()).toMatchObject({ received: 1, aborted: 1 });
  });

  it('counts and traces what it cut before it flushes, and blames no provider for it', async () => {
    otlp = await OtlpReceiver.start();
    const gateway = start({ OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url }, config({ drainMs: 100 }));
    const url = await gateway.url();
    await sim.behaviour({ frames: 10_000, tokensPerSecond: 100 });
    const incoming = await stream(url);
    incoming.on('error', () => undefined).resume();
    gateway.kill('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
    const traces = otlp.text('/v1/traces');
    expect(traces).toContain('POST /v1/chat/completions');
    expect(traces).not.toContain('upstream_error');
    const lines = gateway.output.split('\n').filter((line) => line.includes('"event":"request"'));
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      { status: 200, outcome: 'cancelled', code: 'client_disconnected', attempts: 1 },
    ]);
  });
});

describe('SIGINT', () => {
  it('ends soon, whatever runs, and with a collector that is not there', async () => {
    const gateway = start({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }, config());
    const url = await gateway.url();
    await sim.behaviour({ frames: 10_000, tokensPerSecond: 100 });
    const incoming = await stream(url);
    incoming.on('error', () => undefined).resume();
    const before = performance.now();
    gateway.kill('SIGINT');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
    // 2 s on a machine of its own; a flush without a limit of its own would take 5 s more.
    expect(performance.now() - before).toBeLessThan(4500);
  });
});

describe('a start that cannot be', () => {
  let other: Server;
  let starts: Record<'faulty' | 'taken' | 'missing' | 'chatty', GatewayProcess>;

  // Together, because most of their time is the start of a process.
  beforeAll(async () => {
    other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    starts = {
      faulty: new GatewayProcess({}, FAULTY),
      taken: new GatewayProcess({ WEIR_PORT: String(portOf(other)) }, config()),
      missing: new GatewayProcess({ WEIR_CONFIG: '/nowhere/weir.yaml' }),
      chatty: new GatewayProcess({
        ...{ WEIR_LOG_LEVEL: 'everything', WEIR_PORT: 'x', WEIR_STATE_FILE: '/nowhere/state.json' },
        OTEL_EXPORTER_OTLP_ENDPOINT: 'foo',
      }),
    };
    await Promise.all(Object.values(starts).map(({ exited }) => exited));
  });
  afterAll(async () => {
    await Promise.all(Object.values(starts).map((gateway) => gateway.dispose()));
    await new Promise((resolve) => other.close(resolve));
  });

  it.each(['faulty', 'taken', 'missing', 'chatty'] as const)(
    '(%s) exits 1, without a stack trace',
    async (name) => {
      expect(await starts[name].exited).toEqual({ code: 1, signal: null });
      expect(starts[name].output).not.toMatch(/^\s+at /m);
    },
  );

  it('names every fault of the file at once, and quotes no secret', () => {
    for (const path of ['baseUrl', 'apiKey', 'requestsPerMinute', 'models', 'teams', 'queu']) {
      expect(starts.faulty.output).toContain(path);
    }
    expect(starts.faulty.output).not.toContain('top secret');
  });

  it('says which port is taken, and what to do', () => {
    const { output } = starts.taken;
    expect(output).toContain(`127.0.0.1:${portOf(other)}: the port is taken. WEIR_HOST and WEIR_PORT`);
  });

  it('says which file is not there', () => {
    expect(starts.missing.output).toContain('/nowhere/weir.yaml');
  });

  it('says which variables have values that mean nothing, all at once', () => {
    const { output } = starts.chatty;
    expect(output).toContain('4 faults');
    expect(output).toContain('WEIR_LOG_LEVEL: "everything"; allowed: debug');
    expect(output).toContain('WEIR_PORT: "x"; allowed: a whole number');
    expect(output).toContain('OTEL_EXPORTER_OTLP_ENDPOINT: "foo"; allowed: an http:// or https:// address');
    expect(output).toContain('WEIR_STATE_FILE: "/nowhere/state.json" (ENOENT); allowed: a file in a folder');
  });
});

const FAULTY = {
  accounts: [
    { id: 'main', baseUrl: 'ftp://x', apiKey: 'top secret', limits: { requestsPerMinute: 0 }, models: {} },
  ],
  teams: [],
  queu: {},
};

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

describe('without a file', () => {
  it('serves the simulator of this machine to the key dev', async () => {
    const gateway = start({ SIMULATOR_PORT: new URL(simulator.url).port });
    const url = await gateway.url();
    const ask = { headers: { authorization: 'Bearer dev' }, body: JSON.stringify(question()) };
    expect((await send(`${url}/v1/chat/completions`, ask)).status).toBe(200);
    const status = await send(`${url}/admin/v1/status`, { headers: ask.headers });
    expect(status.json).toMatchObject({ version: 1, draining: false });
  });
});
