import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Takes OTLP over HTTP as a collector does, counts the spans, and can be gone for a while. */
export class CollectorStandIn {
  /** Spans that came. */
  spans = 0;
  /** Everything that came, as bytes; names and values are plain text in protobuf. */
  readonly bodies: Buffer[] = [];
  private server: Server | undefined;
  private port = 0;

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Listens; the second time where it listened before. */
  async start(): Promise<void> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = Buffer.concat(chunks);
        this.bodies.push(body);
        if (request.url === '/v1/traces') this.spans += spansIn(body);
        response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
      });
    });
    this.server = server;
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.port = (server.address() as AddressInfo).port;
  }

  /** Ends; what is being answered is answered, so that both sides agree on what came. */
  async stop(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    if (server === undefined) return;
    const over = new Promise((resolve) => server.close(resolve));
    server.closeIdleConnections();
    await over;
  }
}

/** ExportTraceServiceRequest: resource_spans = 1; in it scope_spans = 2; in it spans = 2 (opentelemetry-proto 1.7). */
function spansIn(request: Buffer): number {
  return messages(request, 1)
    .flatMap((resource) => messages(resource, 2))
    .reduce((count, scope) => count + messages(scope, 2).length, 0);
}

/** The embedded messages of one field of a protobuf message. */
function messages(bytes: Buffer, wanted: number): readonly Buffer[] {
  const found: Buffer[] = [];
  let at = 0;
  const varint = (): number => {
    let [value, scale] = [0, 1];
    for (;;) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const [field, kind] = [Math.floor(tag / 8), tag % 8];
    if (kind === 0) varint();
    else if (kind === 2) {
      const length = varint();
      if (field === wanted) found.push(bytes.subarray(at, at + length));
      at += length;
    } else at += kind === 1 ? 8 : 4;
  }
  return found;
}
