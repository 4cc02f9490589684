import { GatewayError, seededRandom, systemClock, type CallIdentity } from '@weir/kernel';
import { RecordingTracer } from '@weir/testing';
import { fastify, type FastifyInstance } from 'fastify';
import { request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { LogFields } from './logger.js';
import { RequestTraces } from './request-trace.js';
import { ServerSpans, type RequestSpan } from './server-span.js';
import { SpanRecorder } from './span-recorder.js';

const PATH = '/v1/chat/completions';
const IDENTITY: CallIdentity = {
  requestId: 'req-1',
  team: 'search',
  model: 'chat-route',
  operation: 'chat',
  template: 'none',
  priority: 'high',
};

describe('server span, on a real server', () => {
  let app: FastifyInstance;
  let tracer: RecordingTracer;
  let spans: ServerSpans;
  let traces: RequestTraces;
  const lines: Record<string, unknown>[] = [];

  beforeEach(() => {
    lines.length = 0;
    tracer = new RecordingTracer();
    traces = new RequestTraces(new Map([['main', { id: 'main', provider: 'openai', models: [] }]]));
    const made = { clock: systemClock, random: seededRandom(5), sinks: [tracer], exportRatio: 1 };
    const recorder = new SpanRecorder(made);
    const none = (): void => undefined;
    const info = (_event: string, fields: LogFields | (() => LogFields) = {}): void => {
      lines.push({ ...(typeof fields === 'function' ? fields() : fields) });
    };
    const logger = { info, warn: none, error: none };
    spans = new ServerSpans(recorder, traces, logger);
    app = fastify();
    spans.install(app);
    app.get('/healthz', async () => 'ok');
    app.get('/v1/models', async () => ({ data: [] }));
  });

  afterEach(async () => {
    await app.close();
  });

  async function listen(): Promise<number> {
    await app.listen({ host: '127.0.0.1', port: 0 });
    return (app.server.address() as AddressInfo).port;
  }

  async function post(port: number, headers: Record<string, string> = {}): Promise<Response> {
    const answer = await fetch(`http://127.0.0.1:${port}${PATH}`, {
      method: 'POST',
      body: '{"a":1}',
      headers: { 'content-type': 'application/json', ...headers },
    });
    await answer.text();
    return answer;
  }

  async function ended(): Promise<void> {
    while (tracer.spans.length === 0) await new Promise((resolve) => setImmediate(resolve));
  }

  it('is named from the route, takes the caller as parent and says how the request ended', async () => {
    let active: RequestSpan | undefined;
    app.post(PATH, async (request) => {
      active = spans.of(request.raw);
      active.identify(IDENTITY, 120);
      active.committed();
      const trace = traces.of(IDENTITY);
      trace.attempts = 2;
      trace.attributesFor({ account: 'main', model: 'm1' });
      Object.assign(trace.tokens, { reserved: 120, charged: 90, refunded: 30 });
      trace.usage = { inputTokens: 60, outputTokens: 30 };
      active.finish();
      return { ok: true };
    });
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    await post(await listen(), { traceparent: `00-${traceId}-00f067aa0ba902b7-01` });
    await ended();

    const [span, ...others] = tracer.spans;
    expect(others).toEqual([]);
    expect(span?.name).toBe('POST /v1/chat/completions');
    expect(span?.kind).toBe(1);
    expect(span?.status.code).toBe(0);
    expect(span?.spanContext().traceId).toBe(traceId);
    expect(span?.parentSpanContext).toMatchObject({ spanId: '00f067aa0ba902b7', isRemote: true });
    expect(span?.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': PATH,
      'http.response.status_code': 200,
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'chat-route',
      'gen_ai.prompt.name': 'none',
      'gen_ai.usage.input_tokens': 60,
      'gen_ai.usage.output_tokens': 30,
      'weir.account': 'main',
      'weir.team': 'search',
      'weir.priority': 'high',
      'weir.request.id': 'req-1',
      'weir.outcome': 'ok',
      'weir.attempts': 2,
      'weir.tokens.estimated': 120,
      'weir.tokens.reserved': 120,
      'weir.tokens.used': 90,
      'weir.tokens.refunded': 30,
      'weir.time_to_first_chunk': expect.any(Number) as number,
    });
    expect(active?.traceId).toBe(traceId);
    expect(lines).toMatchObject([
      { request_id: 'req-1', trace_id: traceId, outcome: 'ok', status: 200, attempts: 2, team: 'search' },
    ]);
  });

  it('makes no span of health checks and of paths that do not exist', async () => {
    const port = await listen();
    for (const path of ['/healthz', '/v1/nothing', '/elsewhere']) {
      await (await fetch(`http://127.0.0.1:${port}${path}`)).text();
    }
    await (await fetch(`http://127.0.0.1:${port}/v1/models?key=SECRET-MARK`)).text();
    await ended();
    expect(tracer.spans.map(({ name }) => name)).toEqual(['GET /v1/models']);
    expect(JSON.stringify(tracer.spans[0]?.attributes)).not.toContain('SECRET-MARK');
    expect(tracer.spans[0]?.attributes).not.toHaveProperty('weir.outcome');
    expect(lines).toEqual([]);
  });

  it.each([
    ['wait_exceeds_deadline', 429, 'queue_timeout', 0],
    ['upstream_unavailable', 502, 'upstream_error', 2],
    ['stream_truncated', 200, 'upstream_error', 2],
  ] as const)('says how %s ended it', async (reason, status, outcome, code) => {
    const error = new GatewayError(reason, 'No.');
    app.post(PATH, async (request, reply) => {
      const span = spans.of(request.raw);
      span.identify(IDENTITY);
      span.finish(error);
      return reply.code(status).send('x');
    });
    await post(await listen());
    await ended();
    expect(tracer.spans[0]?.status.code).toBe(code);
    expect(tracer.spans[0]?.attributes).toMatchObject({
      'http.response.status_code': status,
      'weir.outcome': outcome,
      'weir.error.code': error.code,
    });
    expect(tracer.spans[0]?.attributes['error.type']).toBe(code === 0 ? undefined : error.code);
  });

  it('counts what was refused before anybody knew what it was', async () => {
    app.post(PATH, async (_request, reply) => reply.code(401).send('x'));
    await post(await listen());
    await ended();
    expect(tracer.spans[0]?.attributes).toMatchObject({ 'weir.outcome': 'rejected' });
    expect(tracer.spans[0]?.status.code).toBe(0);
  });

  it('counts what was refused before it was understood by its error, for whoever asked', async () => {
    app.post(PATH, async (request, reply) => {
      const span = spans.of(request.raw);
      span.caller('search', 'faq');
      span.finish(new GatewayError('draining', 'No.'));
      return reply.code(503).send('x');
    });
    await post(await listen());
    await ended();
    expect(tracer.spans[0]?.attributes).toMatchObject({
      'weir.outcome': 'client_throttled',
      'weir.error.code': 'draining',
      'weir.team': 'search',
      'gen_ai.prompt.name': 'faq',
    });
    expect(lines).toMatchObject([{ team: 'search', template: 'faq', outcome: 'client_throttled' }]);
  });

  it('counts no read that was refused', async () => {
    app.get('/v1/models/*', async (request, reply) => {
      spans.of(request.raw).finish(new GatewayError('model_not_found', 'No.'));
      return reply.code(404).send('x');
    });
    await (await fetch(`http://127.0.0.1:${await listen()}/v1/models/x`)).text();
    await ended();
    expect(tracer.spans[0]?.attributes).not.toHaveProperty('weir.outcome');
  });

  it.each(['hijacked', 'plain'])(
    'a caller that leaves a %s reply ends it, after the outcome came',
    async (how) => {
      let aborted: Promise<void> | undefined;
      app.post(PATH, async (request, reply) => {
        const span = spans.of(request.raw);
        span.identify(IDENTITY);
        aborted = new Promise((resolve) => {
          reply.raw.once('close', () => {
            setImmediate(() => {
              expect(tracer.spans).toEqual([]);
              span.finish(new GatewayError('client_disconnected', 'The caller left.'));
              resolve();
            });
          });
        });
        if (how === 'hijacked') {
          reply.hijack();
          reply.raw.writeHead(200).write('data: 1\n\n');
        } else await aborted;
      });
      const port = await listen();
      const client = httpRequest({ port, path: PATH, method: 'POST' });
      client.on('error', () => undefined);
      client.end();
      while (aborted === undefined) await new Promise((resolve) => setImmediate(resolve));
      client.destroy();
      await aborted;

      expect(tracer.spans).toHaveLength(1);
      expect(tracer.spans[0]?.status.code).toBe(0);
      expect(tracer.spans[0]?.attributes).toMatchObject({
        'weir.outcome': 'cancelled',
        'http.response.status_code': how === 'hijacked' ? 200 : 499,
      });
    },
  );

  it('ends a hijacked reply that was written to its end', async () => {
    app.post(PATH, (_request, reply) => {
      reply.hijack();
      reply.raw.writeHead(200).end('data: [DONE]\n\n');
    });
    await post(await listen());
    await ended();
    expect(tracer.spans[0]?.attributes).toMatchObject({ 'weir.outcome': 'ok' });
  });

  it('ends under inject, which has no socket', async () => {
    app.post(PATH, async () => 'ok');
    await app.inject({ method: 'POST', url: PATH, payload: {} });
    await ended();
    expect(tracer.spans).toHaveLength(1);
  });
});
