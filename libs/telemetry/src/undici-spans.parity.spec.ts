import { context, trace, type Context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { GatewayError, seededRandom, systemClock } from '@weir/kernel';
import { RecordingTracer } from '@weir/testing';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool, type Dispatcher } from 'undici';
import { asOurs, toldByUs, UndiciJudge, type Told } from '../test/undici-judge.js';
import type { RecordedSpan } from './recorded-span.js';
import { SpanRecorder } from './span-recorder.js';
import { ATTEMPT_NUMBER } from './traced-stream-client.js';
import { startUndiciSpans, type StopUndiciSpans } from './undici-spans.js';

/** What a provider may do, by path. */
const STATUS: Readonly<Record<string, number>> = { '/busy': 429, '/down': 503 };
const provider = createServer((request, response) => {
  const [path = ''] = (request.url ?? '').split('?');
  if (path === '/cut') request.socket.resetAndDestroy();
  if (path === '/cut' || path === '/silent') return;
  response.writeHead(STATUS[path] ?? 200);
  if (path === '/hang') response.write('a');
  else if (path === '/break') response.write('a', () => request.socket.resetAndDestroy());
  else response.end('ok');
});

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

describe('spans of undici, with OpenTelemetry’s instrumentation as the judge of the same calls', () => {
  const ours = new RecordingTracer();
  const recorder = recording(1);
  let judge: UndiciJudge;
  let stop: StopUndiciSpans;
  let pool: Pool;

  beforeAll(async () => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager());
    pool = new Pool(await listening(provider), { connections: 1 });
    judge = new UndiciJudge();
    stop = startUndiciSpans(recorder);
  });

  afterAll(async () => {
    stop();
    await judge.stop();
    await pool.destroy();
    await closed(provider);
    context.disable();
  });

  function recording(exportRatio: number): SpanRecorder {
    return new SpanRecorder({ clock: systemClock, random: seededRandom(4), sinks: [ours], exportRatio });
  }

  /** Below an attempt that is not ended here. */
  function below(number?: number, by = recorder): Context {
    const attempt: RecordedSpan = by.start('chat m', { parent: undefined });
    const active = trace.setSpan(context.active(), attempt);
    return number === undefined ? active : active.setValue(ATTEMPT_NUMBER, number);
  }

  async function call(at: Context, options: Partial<Dispatcher.RequestOptions>, to = pool): Promise<void> {
    await context.with(at, async () => {
      const answer = await to.request({ path: '/ok', method: 'POST', body: '{}', ...options });
      await answer.body.text();
    });
  }

  /** @returns what the judge told, and ours told as well */
  function agreed(): readonly Told[] {
    const judged = judge.take();
    expect(ours.spans.splice(0).map(toldByUs)).toEqual(judged.map(asOurs));
    return judged;
  }

  it.each([
    ['an answer', { path: '/v1/chat/completions' }, 200],
    ['another method', { path: '/v1/models', method: 'GET', body: null }, 200],
    ['a 429', { path: '/busy' }, 429],
    ['a 503', { path: '/down' }, 503],
    ['a query, which may hold a key', { path: '/v1/chat?key=SECRET&x=1' }, 200],
    ['an empty query', { path: '/v1/chat?' }, 200],
    ['a caller that has a name', { headers: { 'User-Agent': 'weir/1.0', 'x-other': 'y' } }, 200],
  ] as const)('agree on %s', async (_, options, status) => {
    await call(below(), options);
    const [judged, ...others] = agreed();
    expect(others).toEqual([]);
    expect(judged?.attributes['http.response.status_code']).toBe(status);
    expect(JSON.stringify(judged)).not.toContain('SECRET');
  });

  it('agree on which sending it is', async () => {
    for (const number of [1, 2, 3]) await call(below(number), {});
    const resends = agreed().map(({ attributes }) => attributes['http.request.resend_count']);
    expect(resends).toEqual([undefined, 1, 2]);
  });

  it.each(['/cut', '/break'])('agree on a connection that breaks: %s', async (path) => {
    await expect(call(below(), { path })).rejects.toThrow();
    const status = { code: 2, message: expect.stringMatching(/./) as string };
    expect(agreed()).toMatchObject([{ status, events: ['exception'] }]);
  });

  it('agree on a server that is not there', async () => {
    const gone = createServer();
    const nobody = new Pool(await listening(gone));
    await closed(gone);
    await expect(call(below(), {}, nobody)).rejects.toThrow();
    expect(agreed()).toMatchObject([{ attributes: { 'error.type': 'ECONNREFUSED' } }]);
    await nobody.destroy();
  });

  it.each([
    ['https://provider.test', 443],
    ['http://provider.test', 80],
    ['https://[::1]:8443', 8443],
  ])('agree on who is called: %s', async (origin, port) => {
    const unreachable = new Pool(origin, {
      connect: (_, done) => {
        done(Object.assign(new Error('No way there.'), { code: 'ENETUNREACH' }), null);
      },
    });
    await expect(call(below(), {}, unreachable)).rejects.toThrow();
    expect(agreed()).toMatchObject([{ attributes: { 'server.port': port, 'error.type': 'ENETUNREACH' } }]);
    await unreachable.destroy();
  });

  it.each([
    ['before the answer', '/silent', undefined, undefined],
    ['in the middle of it', '/hang', undefined, undefined],
    [
      'by a caller who left',
      '/hang',
      new GatewayError('client_disconnected', 'Left.'),
      'client_disconnected',
    ],
    [
      'for its deadline',
      '/hang',
      new GatewayError('wait_exceeds_deadline', 'Late.'),
      'wait_exceeds_deadline',
    ],
    ['by an error that says too much', '/hang', new Error('PROMPT'), 'Error'],
  ])('agree on a call that is aborted %s', async (_, path, reason, errorType) => {
    const abort = new AbortController();
    const heard = new Promise((resolve) => provider.once('request', resolve));
    const over = call(below(), { path, signal: abort.signal });
    await heard;
    abort.abort(reason);
    await expect(over).rejects.toBeDefined();
    expect(agreed().map(({ attributes }) => attributes['error.type'])).toEqual([errorType]);
  });

  it('agree that there is none below no attempt, and none of a trace that is not exported', async () => {
    await call(context.active(), {});
    await call(below(1, recording(0)), {});
    expect(agreed()).toEqual([]);
  });
});
