import { Agent, request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';

/** An answer, read whole. */
export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
  /** The body, decoded. */
  readonly json: unknown;
}

/** What to send. */
export interface Send {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
}

/** OpenAI's error body. */
interface ErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string;
  };
}

/** The error that a body holds. */
export function errorIn(body: string): ErrorBody['error'] {
  return (JSON.parse(body) as ErrorBody).error;
}

/** No connection is kept: a test that ends leaves no socket. */
const AGENT = new Agent({ keepAlive: false, maxSockets: Infinity });

/** Sends, and resolves with the head of the answer. Plain Node HTTP: not the library that is under test. */
export function open(url: string, { method, headers, body, signal }: Send = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      {
        agent: AGENT,
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        headers: { ...headers },
        ...(signal === undefined ? {} : { signal }),
      },
      resolve,
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** Sends, and resolves with the whole answer. */
export async function send(url: string, what: Send = {}): Promise<Reply> {
  const incoming = await open(url, what);
  const body = await readAll(incoming);
  const text = body.toString('utf8');
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    body,
    text,
    get json(): unknown {
      return JSON.parse(text) as unknown;
    },
  };
}

/** The rest of a body. Rejects where the connection breaks. */
export async function readAll(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** A socket that speaks bytes, for everything that no HTTP client would send. */
export class RawCaller {
  private readonly chunks: Buffer[] = [];
  private readonly waiters: (() => void)[] = [];
  /** True once the other side closed, or the connection broke. */
  ended = false;

  private constructor(readonly socket: Socket) {
    socket.on('data', (chunk: Buffer) => {
      this.chunks.push(chunk);
      this.wake();
    });
    const over = (): void => {
      this.ended = true;
      this.wake();
    };
    socket.on('end', over);
    socket.on('close', over);
    socket.on('error', over);
  }

  static async connect(url: string): Promise<RawCaller> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return new RawCaller(socket);
  }

  get received(): Buffer {
    return Buffer.concat(this.chunks);
  }

  get text(): string {
    return this.received.toString('latin1');
  }

  write(bytes: string | Uint8Array): void {
    if (!this.socket.destroyed) this.socket.write(bytes);
  }

  /** Settles once what came holds `part`, or the connection is over. */
  async until(part: string): Promise<string> {
    while (!this.text.includes(part) && !this.ended) await this.more();
    return this.text;
  }

  /** Settles when the other side has closed. */
  async untilEnded(): Promise<string> {
    while (!this.ended) await this.more();
    return this.text;
  }

  close(): void {
    this.socket.destroy();
  }

  private more(): Promise<void> {
    return new Promise((resolve) => this.waiters.push(resolve));
  }

  private wake(): void {
    for (const waiter of this.waiters.splice(0)) waiter();
  }
}

/** One request as bytes. */
export function rawPost(path: string, headers: readonly string[], body: string): string {
  const length = headers.some((line) => /^(content-length|transfer-encoding):/i.test(line))
    ? []
    : [`content-length: ${Buffer.byteLength(body)}`];
  return [`POST ${path} HTTP/1.1`, 'host: weir', ...headers, ...length, '', body].join('\r\n');
}
