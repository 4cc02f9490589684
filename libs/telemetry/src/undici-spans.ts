import { context, SpanKind, trace, type Attributes } from '@opentelemetry/api';
import { isTracingSuppressed } from '@opentelemetry/core';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { DiagnosticsChannel as Told } from 'undici';
import { ATTRIBUTES as A } from './names.js';
import { RecordedSpan } from './recorded-span.js';
import type { SpanRecorder } from './span-recorder.js';
import { ATTEMPT_NUMBER } from './traced-stream-client.js';

/** Stops tracing undici. */
export type StopUndiciSpans = () => void;

/**
 * Makes a client span of every call of undici below an attempt, from what undici tells on its channels: by the names
 * and rules of OpenTelemetry's instrumentation, for a fraction of its cost. What has no attempt above it, such as an
 * exporter's own request, makes none, and neither does a trace that will not be exported, since no metric derives from
 * these spans. Nothing is sent along to providers.
 */
export function startUndiciSpans(recorder: SpanRecorder): StopUndiciSpans {
  const stops = [
    listen('undici:request:create', ({ request }) => {
      begin(recorder, request);
    }),
    listen('undici:client:sendHeaders', ({ request, socket }) => {
      spanOf(request)
        ?.set(A.peerAddress, socket.remoteAddress)
        .set(A.peerPort, socket.remotePort)
        .set(A.protocolVersion, 'alpnProtocol' in socket && socket.alpnProtocol === 'h2' ? '2' : '1.1');
    }),
    listen('undici:request:headers', ({ request, response }) => {
      answered(spanOf(request), response.statusCode);
    }),
    listen('undici:request:trailers', ({ request }) => {
      spanOf(request)?.end();
    }),
    listen('undici:request:error', ({ request, error }) => {
      broke(spanOf(request), error);
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

/** What undici tells, by channel. */
interface Channels {
  'undici:request:create': Told.RequestCreateMessage;
  'undici:client:sendHeaders': Told.ClientSendHeadersMessage;
  'undici:request:headers': Told.RequestHeadersMessage;
  'undici:request:trailers': Told.RequestTrailersMessage;
  'undici:request:error': Told.RequestErrorMessage;
}

function listen<Name extends keyof Channels>(
  channel: Name,
  hear: (message: Channels[Name]) => void,
): () => void {
  const listener = (message: unknown): void => {
    hear(message as Channels[Name]);
  };
  subscribe(channel, listener);
  return () => {
    unsubscribe(channel, listener);
  };
}

const SPAN = Symbol('span');

/** Undici's request, with the span of the call. */
type Traced = Told.Request & { [SPAN]?: RecordedSpan };

function spanOf(request: Traced): RecordedSpan | undefined {
  return request[SPAN];
}

function begin(recorder: SpanRecorder, request: Traced): void {
  const active = context.active();
  const parent = trace.getSpan(active);
  if (!(parent instanceof RecordedSpan) || !parent.isExported || isTracingSuppressed(active)) return;
  const { method = 'GET' } = request;
  const span = recorder.start(method, { kind: SpanKind.CLIENT, parent, shared: described(request, method) });
  const attempt = active.getValue(ATTEMPT_NUMBER);
  if (typeof attempt === 'number' && attempt > 1) span.set(A.httpResendCount, attempt - 1);
  request[SPAN] = span;
}

function answered(span: RecordedSpan | undefined, status: number): void {
  if (span === undefined) return;
  span.set(A.httpStatus, status);
  if (status >= 400) span.set(A.errorType, String(status)).markError();
}

/** A caller who left is no error. The message of one may quote what was sent, so only its code or name is told. */
function broke(span: RecordedSpan | undefined, error: Error): void {
  if (span === undefined) return;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  if (error.name !== 'AbortError') {
    span.set(A.errorType, code);
    if (code !== 'client_disconnected') span.markError();
  }
  span.end();
}

/** A query or a user part may hold a key: neither reaches a span. */
function described({ origin = '', path, headers }: Traced, method: string): Attributes {
  const [pathname = '', query] = path.split('?', 2);
  const { scheme, authority, address, port } = serverOf(String(origin));
  return {
    [A.httpMethod]: method,
    [A.httpMethodOriginal]: method,
    [A.urlFull]: `${scheme}://${authority}${pathname}`,
    [A.urlPath]: pathname,
    [A.urlQuery]: query === undefined ? '' : 'REDACTED',
    [A.urlScheme]: scheme,
    [A.serverAddress]: address,
    [A.serverPort]: port,
    ...userAgentOf(headers),
  };
}

/** Undici keeps headers as a list: a name, its value, and so on. */
function userAgentOf(headers: unknown): Attributes {
  if (!Array.isArray(headers)) return {};
  for (let at = 0; at < headers.length; at += 2) {
    const [name, value] = [headers[at], headers[at + 1]] as readonly unknown[];
    if (typeof name === 'string' && name.toLowerCase() === 'user-agent' && typeof value === 'string')
      return { [A.userAgent]: value };
  }
  return {};
}

interface Server {
  readonly scheme: string;
  readonly authority: string;
  readonly address: string;
  readonly port: number;
}

/** Accounts are few, and taking a URL apart costs as much as the rest of the span. */
const SERVERS_KEPT = 100;
const servers = new Map<string, Server>();

function serverOf(origin: string): Server {
  const known = servers.get(origin);
  if (known !== undefined) return known;
  const { protocol, host, hostname, port } = new URL(origin);
  const scheme = protocol.slice(0, -1);
  const server = {
    ...{ scheme, authority: host, address: hostname },
    port: port === '' ? (scheme === 'https' ? 443 : 80) : Number(port),
  };
  if (servers.size < SERVERS_KEPT) servers.set(origin, server);
  return server;
}
