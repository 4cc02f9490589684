import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request that came. */
export interface Posted {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly type: string | undefined;
  readonly body: Buffer;
}

/** A collector on loopback that takes everything and keeps it. */
export class OtlpSink {
  private readonly posted: Posted[] = [];
  private readonly server: Server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const { method, url: path, headers } = request;
      this.posted.push({ method, path, type: headers['content-type'], body: Buffer.concat(pieces) });
      response.end();
    });
  });

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** What came for traces since it was asked last. */
  takeTraces(): readonly Posted[] {
    return this.posted.splice(0).filter(({ path }) => path === '/v1/traces');
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
