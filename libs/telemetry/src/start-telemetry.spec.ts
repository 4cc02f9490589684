import { context, propagation, trace } from '@opentelemetry/api';
import { GatewayError, type CallIdentity } from '@weir/kernel';
import type { RetryDecision } from '@weir/retry';
import { RecordingTracer } from '@weir/testing';
import type { StreamClient, UpstreamRequest } from '@weir/upstream';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startTelemetry, type Telemetry, type TelemetryOptions } from './start-telemetry.js';

const OPTIONS: TelemetryOptions = {
  service: { name: 'weir-test', version: '1.2.3', instance: 'one' },
  labels: {
    accounts: [{ id: 'main', provider: 'openai', models: [{ name: 'm1' }] }],
    routes: ['m1'],
    teams: [{ id: 'search', templates: [] }],
  },
};
const CALL: CallIdentity = {
  requestId: 'r1',
  team: 'search',
  model: 'm1',
  operation: 'chat',
  template: 'none',
  priority: 'normal',
};
const REQUEST: UpstreamRequest = {
  identity: CALL,
  target: { account: 'main', model: 'm1' },
  attempt: 1,
  path: '/chat/completions',
  body: new Uint8Array(),
  stream: false,
  usageInjected: false,
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

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Takes whatever is posted: a collector for some, a provider for others. */
class Sink {
  constructor(private readonly answer: (response: ServerResponse) => void = (response) => response.end()) {}

  readonly received: Received[] = [];
  private server: Server | undefined;

  async listen(): Promise<string> {
    this.server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const body = Buffer.concat(parts).toString('latin1');
        this.received.push({ path: request.url ?? '', headers: request.headers, body });
        this.answer(response);
      });
    });
    await new Promise<void>((resolve) => this.server?.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  at(path: string): readonly Received[] {
    return this.received.filter((one) => one.path === path);
  }

  /** Waits for the `count`-th request. */
  async until(path: string, count: number): Promise<void> {
    while (this.at(path).length < count)
      await new Promise<void>((resolve) =>
        this.server?.once('request', (_, response) => response.once('close', resolve)),
      );
  }

  async close(): Promise<void> {
    this.server?.closeAllConnections();
    await new Promise((resolve) => this.server?.close(resolve));
  }
}

/** A provider's client whose only work is one real call. */
function calling(url: string): StreamClient {
  return {
    open: async (request) => {
      request.onSent?.();
      const answer = await fetch(url, { method: 'POST', body: '{}' });
      await answer.text();
      throw new Error('PROMPT-MARK in an exception');
    },
    close: async () => undefined,
  };
}

async function attempt(telemetry: Telemetry, client: StreamClient): Promise<void> {
  const signal = new AbortController().signal;
  await expect(telemetry.streamClient(client).open(REQUEST, signal)).rejects.toThrow();
}

describe('startTelemetry', () => {
  const sink = new Sink();
  let endpoint: string;
  let running: Telemetry | undefined;

  function start(options: Partial<TelemetryOptions> = {}): Telemetry {
    running = startTelemetry({ ...OPTIONS, ...options });
    return running;
  }

  beforeAll(async () => {
    endpoint = await sink.listen();
  });

  beforeEach(() => {
    sink.received.length = 0;
  });

  afterEach(async () => {
    await running?.shutdown();
    running = undefined;
  });

  afterAll(async () => {
    await sink.close();
  });

  it('exports spans and metrics by OTLP, and traces none of its own requests', async () => {
    const tracer = new RecordingTracer();
    const telemetry = start({ endpoint: `${endpoint}/`, sinks: [tracer] });
    await attempt(telemetry, calling(`${endpoint}/chat?key=QUERY-MARK`));
    await telemetry.shutdown();

    const [traces] = sink.at('/v1/traces');
    expect(traces?.headers['content-type']).toBe('application/x-protobuf');
    for (const text of ['weir-test', '1.2.3', 'chat m1', 'gen_ai.provider.name', 'POST'])
      expect(traces?.body).toContain(text);
    expect(sink.at('/v1/metrics')[0]?.body).toContain('weir.upstream.attempts');
    expect(tracer.trees()).toMatchObject([{ span: 'chat m1', children: [{ span: 'POST', kind: 'client' }] }]);
    expect(tracer.spans).toHaveLength(2);
    const everything = sink.received.map(({ body }) => body).join();
    expect(everything).not.toMatch(/QUERY-MARK|PROMPT-MARK/);
  });

  it('hands nothing of the trace to the provider', async () => {
    const telemetry = start();
    const baggage = propagation.createBaggage({ team: { value: 'search' } });
    await context.with(propagation.setBaggage(context.active(), baggage), () =>
      attempt(telemetry, calling(`${endpoint}/chat`)),
    );
    const [call] = sink.at('/chat');
    expect(Object.keys(call?.headers ?? {}).filter((name) => /trace|baggage|b3|weir/.test(name))).toEqual([]);
  });

  it('counts every attempt though no trace is exported', async () => {
    const telemetry = start({ endpoint, exportRatio: 0 });
    for (let count = 0; count < 3; count += 1) await attempt(telemetry, calling(`${endpoint}/chat`));
    expect(await telemetry.metricsText()).toMatch(
      /^weir_upstream_attempts_total\{.*weir_attempt_outcome="error"\} 3$/m,
    );
    await telemetry.shutdown();
    expect(sink.at('/v1/traces')).toEqual([]);
  });

  it('shows the collector every series at zero right at the start, and after a reload the new ones', async () => {
    const telemetry = start({ endpoint });
    await sink.until('/v1/metrics', 1);
    expect(sink.at('/v1/metrics')[0]?.body).toContain('weir.upstream.attempts');
    telemetry.relabel({ ...OPTIONS.labels, routes: ['m1', 'a-late-route'] });
    await sink.until('/v1/metrics', 2);
    expect(sink.at('/v1/metrics')[1]?.body).toContain('a-late-route');
  }, 10_000);

  it('outlives a dead collector: metrics stay, lost spans are counted, the end is bounded', async () => {
    const dead = new Sink();
    const nowhere = await dead.listen();
    await dead.close();
    const telemetry = start({ endpoint: nowhere, exportTimeoutMs: 100 });
    const retries = telemetry.retryObserver();
    for (let count = 0; count < 40_000; count += 1) retries.decided(DECISION)();

    const text = await telemetry.metricsText();
    expect(text).toMatch(/^weir_retries_total\{.*weir_retry_result="exhausted"\} 40000$/m);
    expect(text).toMatch(/^otel_sdk_processor_span_processed_total\{.*error_type="queue_full"\} \d{4}$/m);
    await telemetry.shutdown();
  });

  it('ends within its bound though the collector never answers', async () => {
    const silent = new Sink(() => undefined);
    const telemetry = start({ endpoint: await silent.listen(), exportTimeoutMs: 1000 });
    telemetry.retryObserver().decided(DECISION)();
    await telemetry.shutdown(50);
    await silent.close();
  });

  it('is quiet without an endpoint, and shows what is configured at zero', async () => {
    const telemetry = start();
    const text = await telemetry.metricsText();
    expect(text).toContain(
      'weir_upstream_attempts_total{gen_ai_provider_name="openai",gen_ai_request_model="m1",weir_account="main",weir_attempt_outcome="throttled"} 0',
    );
    expect(text.endsWith('\n')).toBe(true);
  });

  it('shows breakers and parked accounts where it is told to read, and takes new labels', async () => {
    const telemetry = start();
    telemetry.health(() => ({
      breakers: [{ account: 'main', model: 'm1', state: 'open' }],
      parked: [{ account: 'main', reason: 'auth' }],
    }));
    telemetry.relabel({ ...OPTIONS.labels, routes: ['m1', 'late'] });
    const lines = (await telemetry.metricsText()).split('\n');
    const at = 'gen_ai_provider_name="openai",gen_ai_request_model="m1",weir_account="main"';
    expect(lines.filter((line) => line.startsWith('weir_breaker_state{'))).toEqual([
      `weir_breaker_state{${at},weir_breaker_state="closed"} 0`,
      `weir_breaker_state{${at},weir_breaker_state="open"} 1`,
      `weir_breaker_state{${at},weir_breaker_state="half_open"} 0`,
    ]);
    expect(lines).toContain(
      'weir_account_parked{gen_ai_provider_name="openai",gen_ai_request_model="*",weir_account="main",weir_parked_reason="auth"} 1',
    );
    telemetry.health(() => ({ breakers: [], parked: [] }));
    expect(await telemetry.metricsText()).toContain(
      'weir_account_parked{gen_ai_provider_name="openai",gen_ai_request_model="*",weir_account="main",weir_parked_reason="auth"} 0',
    );
    expect(lines).toContain(
      'weir_requests_total{gen_ai_request_model="late",weir_team="search",gen_ai_prompt_name="none",weir_priority="normal",weir_outcome="ok"} 0',
    );
  });

  it('off gives every port back as it came', async () => {
    const telemetry = start({ mode: 'off' });
    const client = calling(endpoint);
    expect(telemetry.streamClient(client)).toBe(client);
    telemetry.health(() => ({ breakers: [], parked: [] }));
    telemetry.relabel(OPTIONS.labels);
    expect(telemetry.request({}).traceId).toBeUndefined();
    expect(await telemetry.metricsText()).toBe('');
    telemetry.retryObserver().decided(DECISION)();
    expect(trace.getTracerProvider().getTracer('x').startSpan('x').isRecording()).toBe(false);
  });
});
