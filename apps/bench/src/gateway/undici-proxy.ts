import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool, type Dispatcher } from 'undici';

/** What Node can do at best: bytes in, bytes out, nothing looked at. */
export function startByteProxy(provider: string): Promise<string> {
  const pool = new Pool(provider, { connections: null, pipelining: 1 });
  const server = createServer((request, response) => {
    relay(pool, request, response);
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    });
  });
}

function relay(pool: Pool, request: IncomingMessage, response: ServerResponse): void {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.once('end', () => {
    const [only] = pieces;
    pool.dispatch(
      {
        path: request.url ?? '/',
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: pieces.length === 1 && only ? only : Buffer.concat(pieces),
      },
      new Relay(response),
    );
  });
}

class Relay implements Dispatcher.DispatchHandler {
  constructor(private readonly response: ServerResponse) {}

  onRequestStart(): void {
    // Undici wants it to be there.
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Record<string, string>): void {
    const length = headers['content-length'];
    this.response.writeHead(status, {
      'content-type': headers['content-type'],
      ...(length === undefined ? {} : { 'content-length': length }),
    });
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (this.response.write(piece)) return;
    controller.pause();
    this.response.once('drain', () => {
      controller.resume();
    });
  }

  onResponseEnd(): void {
    this.response.end();
  }

  onResponseError(): void {
    this.response.destroy();
  }
}
