import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** How a scripted answer ends after its last chunk. */
export type ScriptedEnd =
  /** In good order. */
  | 'end'
  /** The socket is destroyed: a cut. */
  | 'cut'
  /** Nothing more comes. */
  | 'hang';

/** One answer of the scripted upstream. */
export interface ScriptedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Each is written by itself, and the next only when the socket took it. */
  readonly chunks?: readonly (string | Uint8Array)[];
  readonly end?: ScriptedEnd;
  /** Never even answers with headers. */
  readonly silent?: boolean;
}

/** A call as it arrived. */
export interface ReceivedCall {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Settles when the connection or the answer is over. */
  readonly closed: Promise<void>;
  /** Bytes that the socket accepted so far. */
  written(): number;
}

/** A provider on loopback that says exactly what a test wrote down. */
export class ScriptedUpstream {
  readonly calls: ReceivedCall[] = [];
  /** The most connections that were open at once. */
  mostConnections = 0;
  private readonly answers: ScriptedAnswer[] = [];
  private readonly arrivals: (() => void)[] = [];

  private constructor(private readonly server: Server) {}

  static async start(): Promise<ScriptedUpstream> {
    const server = createServer();
    const upstream = new ScriptedUpstream(server);
    let open = 0;
    server.on('connection', (socket) => {
      open += 1;
      upstream.mostConnections = Math.max(upstream.mostConnections, open);
      socket.on('close', () => (open -= 1));
    });
    server.on('request', (request, response) => {
      void upstream.handle(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return upstream;
  }

  get baseUrl(): string {
    const { port } = this.server.address() as AddressInfo;
    return `http://127.0.0.1:${port}/v1`;
  }

  /** Answers are taken in order; where none is left, 500. */
  script(...answers: readonly ScriptedAnswer[]): void {
    this.answers.push(...answers);
  }

  /** Settles once that many calls arrived. */
  async arrived(count: number): Promise<void> {
    while (this.calls.length < count) await new Promise<void>((resolve) => this.arrivals.push(resolve));
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = this.answers.shift() ?? { status: 500 };
    const closed = new Promise<void>((resolve) => response.once('close', resolve));
    const body = await text(request);
    let written = 0;
    this.calls.push({
      path: request.url ?? '',
      headers: request.headers,
      body,
      closed,
      written: () => written,
    });
    for (const arrival of this.arrivals.splice(0)) arrival();
    if (answer.silent === true) return;
    await write(response, answer, (bytes) => (written += bytes));
  }
}

async function write(
  response: ServerResponse,
  answer: ScriptedAnswer,
  onWritten: (bytes: number) => void,
): Promise<void> {
  response.writeHead(answer.status ?? 200, answer.headers ?? {});
  response.flushHeaders();
  for (const chunk of answer.chunks ?? []) {
    if (response.destroyed) return;
    if (!response.write(chunk)) await drained(response);
    onWritten(chunk.length);
    // One macrotask per chunk, so that they do not arrive as one read.
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (answer.end === 'cut') response.destroy();
  else if (answer.end !== 'hang') response.end();
}

async function text(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.once('drain', resolve);
    response.once('close', resolve);
  });
}
