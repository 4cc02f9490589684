import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { GatewayError, Roster } from '@weir/kernel';
import { toRefusal, type Refusal } from './refusal.js';

/** Answers that are not over, by socket. */
const open = new WeakMap<Duplex, Roster<ServerResponse>>();

/** Takes over what Node would answer by itself, without a body that anybody could read. Once per server. */
export function answerForNode(server: Server): void {
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const stay = answersOn(socket).enter(response);
    response.once('close', () => {
      stay.leave();
    });
  });
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const { headers, body } = refusalOf(EXPECTATION);
    response.writeHead(417, headers).end(body);
  });
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    refuse(socket, '405 Method Not Allowed', NO_TUNNEL);
  });
}

/** One entry for each socket: weak ones are dear, and a socket carries many requests. */
function answersOn(socket: Duplex): Roster<ServerResponse> {
  let answers = open.get(socket);
  if (answers === undefined) {
    answers = new Roster();
    open.set(socket, answers);
  }
  return answers;
}

/**
 * Answers bytes that are not HTTP, or headers beyond all bounds, in the shape of every other error.
 * Where an answer is under way on the socket, nothing is written: it could land in the middle of a stream.
 */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const isUnderWay = [...(open.get(socket) ?? [])].some(({ headersSent }) => headersSent);
  if (!socket.writable || isUnderWay) {
    socket.destroy();
    return;
  }
  const [status, advice] = ANSWERS[error.code ?? ''] ?? DEFAULT_ANSWER;
  refuse(socket, status, advice);
}

function refuse(socket: Duplex, status: string, advice: string): void {
  const { headers, body } = refusalOf(advice);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end(Buffer.concat([Buffer.from(`HTTP/1.1 ${status}\r\n${lines.join('\r\n')}\r\n\r\n`), body]));
}

function refusalOf(advice: string): Pick<Refusal, 'headers' | 'body'> {
  const { headers, body } = toRefusal(new GatewayError('invalid_request', advice));
  const framing = {
    'content-length': String(body.length),
    'x-request-id': randomUUID(),
    connection: 'close',
  };
  return { headers: { ...headers, ...framing }, body };
}

const EXPECTATION = 'The Expect header may only be 100-continue. Leave it out.';
const NO_TUNNEL = 'This is no proxy. Send POST /v1/chat/completions to it directly.';

/** What a path gets that cannot be decoded: no route and so no filter ever sees it. */
export function brokenPath(): Refusal {
  return toRefusal(new GatewayError('invalid_request', BROKEN_PATH));
}

const BROKEN_PATH = 'The path of the URL is not valid. Chat completions are at POST /v1/chat/completions.';

/**
 * Node would refuse a request without a host by itself, with an empty body; so that is switched off, and done here.
 * @returns what to refuse the request with, if anything
 */
export function missingHost({ headers, httpVersion }: IncomingMessage): GatewayError | undefined {
  if (headers.host !== undefined || httpVersion !== '1.1') return undefined;
  return new GatewayError('invalid_request', 'The Host header is missing. HTTP/1.1 wants it.', {
    param: 'host',
  });
}

const DEFAULT_ANSWER = ['400 Bad Request', 'The request is not valid HTTP/1.1.'] as const;

const ANSWERS: Readonly<Record<string, readonly [string, string]>> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'The headers are larger than 16 KiB. Send less.',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request did not arrive whole in time.'],
};
