import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { GatewayError } from '@weir/kernel';
import { encodeErrorBody } from '@weir/protocol';
import { toRefusal, type Refusal } from './refusal.js';

/**
 * Answers bytes that are not HTTP, or headers beyond all bounds, in the shape of every other error.
 * Where the socket already carried an answer, nothing is written: it could land in the middle of a stream.
 */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  if (!socket.writable || socket.bytesWritten > 0) {
    socket.destroy();
    return;
  }
  const [status, advice] = ANSWERS[error.code ?? ''] ?? DEFAULT_ANSWER;
  const body = Buffer.from(encodeErrorBody(new GatewayError('invalid_request', advice)));
  const head = [
    `HTTP/1.1 ${status}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
    'x-weir-origin: gateway',
    'x-weir-reason: invalid_request',
    'x-should-retry: false',
    'connection: close',
  ];
  socket.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]));
}

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
