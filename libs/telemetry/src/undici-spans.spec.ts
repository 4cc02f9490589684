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
      response.writeHead(200);
      if (request.url?.startsWith('/hang') === true) response.write('a');
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
