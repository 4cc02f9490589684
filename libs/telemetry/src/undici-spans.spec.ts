import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { suppressTracing } from '@opentelemetry/core';
import { GatewayError, seededRandom, systemClock } from '@weir/kernel';
import { RecordingTracer } from '@weir/testing';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import { SpanRecorder } from './span-recorder.js';
import { ATTEMPT_NUMBER } from './traced-stream-client.js';
import { startUndiciSpans, type StopUndiciSpans } from './undici-spans.js';

describe('undici spans, against a real server', () => {
  const seen: IncomingHttpHeaders[] = [];
  let server: Server;
  let pool: Pool;
  let stop: StopUndiciSpans;
  let tracer: RecordingTracer;
  let recorder: SpanRecorder;

  beforeAll(async () => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager());
    server = createServer((request, response) => {
      seen.push(request.headers);
      response.writeHead(request.url === '/busy' ? 429 : 200);
      if (request.url === '/hang') response.write('a');
      else if (request.url === '/break') response.write('a', () => request.socket.resetAndDestroy());
      else response.end('ok');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    pool = new Pool(`http://127.0.0.1:${port}`, { connections: 1 });
  });

  afterAll(async () => {
    await pool.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    context.disable();
  });

  beforeEach(() => {
    seen.length = 0;
    start(1);
  });

  afterEach(() => {
    stop();
  });

  function start(exportRatio: number): void {
    tracer = new RecordingTracer();
    recorder = new SpanRecorder({
      clock: systemClock,
      random: seededRandom(3),
      sinks: [tracer],
      exportRatio,
    });
    stop = startUndiciSpans(recorder);
  }

  async function call(path: string, signal?: AbortSignal): Promise<string> {
    const answer = await pool.request({ path, method: 'POST', body: '{}', ...(signal ? { signal } : {}) });
    return answer.body.text();
  }

  function attempt(): ReturnType<SpanRecorder['start']> {
    return recorder.start('chat m', { parent: undefined });
  }

  it('makes a client span below the attempt, without the query, with its number of resends', async () => {
    const parent = attempt();
    const below = trace.setSpan(context.active(), parent).setValue(ATTEMPT_NUMBER, 3);
    await context.with(below, () => call('/v1/chat?key=SECRET'));

    const [span, ...others] = tracer.named('POST');
    expect(others).toEqual([]);
    expect(span?.parentSpanContext?.spanId).toBe(parent.spanContext().spanId);
    expect(span?.kind).toBe(2);
    expect(span?.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.request.resend_count': 2,
      'http.response.status_code': 200,
      'server.address': '127.0.0.1',
      'url.path': '/v1/chat',
      'url.query': 'REDACTED',
    });
    expect(span?.attributes['url.full']).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1\/chat$/);
    expect(JSON.stringify(span?.attributes)).not.toContain('SECRET');
  });

  it('sends no trace context to a provider', async () => {
    await context.with(trace.setSpan(context.active(), attempt()), () => call('/v1/chat'));
    const [headers] = seen;
    expect(headers).toBeDefined();
    for (const name of ['traceparent', 'tracestate', 'baggage', 'b3'])
      expect(headers).not.toHaveProperty(name);
    expect(tracer.named('POST')).toHaveLength(1);
  });

  it('makes no span without a parent, below a suppressed one, or in a trace that is not exported', async () => {
    await call('/v1/chat');
    const below = trace.setSpan(context.active(), attempt());
    await context.with(suppressTracing(below), () => call('/v1/traces'));
    stop();
    start(0);
    await context.with(trace.setSpan(context.active(), attempt()), () => call('/v1/chat'));
    expect(seen).toHaveLength(3);
    expect(tracer.named('POST')).toEqual([]);
  });

  it('knows the server, its answer and its end', async () => {
    await context.with(trace.setSpan(context.active(), attempt()), () => call('/busy'));
    const [span] = tracer.named('POST');
    const { port } = server.address() as AddressInfo;
    expect(span?.status.code).toBe(2);
    expect(span?.endedAt).toBeGreaterThanOrEqual(span?.startedAt ?? NaN);
    expect(span?.attributes).toEqual({
      'http.request.method': 'POST',
      'http.request.method_original': 'POST',
      'http.response.status_code': 429,
      'error.type': '429',
      'url.full': `http://127.0.0.1:${port}/busy`,
      'url.path': '/busy',
      'url.query': '',
      'url.scheme': 'http',
      'server.address': '127.0.0.1',
      'server.port': port,
      'network.peer.address': '127.0.0.1',
      'network.peer.port': port,
      'network.protocol.version': '1.1',
    });
  });

  it('knows how a connection broke', async () => {
    const below = trace.setSpan(context.active(), attempt());
    await expect(context.with(below, () => call('/break'))).rejects.toThrow();
    const [span, ...others] = tracer.named('POST');
    expect(others).toEqual([]);
    expect(span?.status.code).toBe(2);
    expect(span?.attributes['error.type']).toMatch(/^(ECONNRESET|UND_ERR_SOCKET)$/);
    expect(span?.attributes['http.response.status_code']).toBe(200);
  });

  it('a caller who left is no error', async () => {
    const abort = new AbortController();
    const left = new GatewayError('client_disconnected', 'The caller left.');
    const below = trace.setSpan(context.active(), attempt());
    const answer = await context.with(below, () =>
      pool.request({ path: '/hang', method: 'POST', signal: abort.signal }),
    );
    abort.abort(left);
    await expect(answer.body.text()).rejects.toBeDefined();
    expect(tracer.named('POST').map(({ status }) => status)).toEqual([{ code: 0 }]);
  });
});
