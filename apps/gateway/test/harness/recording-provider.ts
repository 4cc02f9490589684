import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One call, from its arrival to its last byte. */
export interface RecordedCall {
  /** Content of the last message. */
  readonly content: string;
  readonly from: number;
  to: number;
}

/** A provider that answers after a while and remembers who was there when. */
export class RecordingProvider {
  readonly calls: RecordedCall[] = [];
  /** Contents whose next call gets a 429 instead. */
  readonly throttled = new Set<string>();

  private constructor(
    private readonly server: Server,
    private readonly answerMs: number,
  ) {}

  static async start(answerMs: number): Promise<RecordingProvider> {
    const server = createServer();
    const provider = new RecordingProvider(server, answerMs);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = JSON.parse(Buffer.concat(chunks).toString()) as {
          messages: { content: string }[];
          stream?: boolean;
        };
        const content = body.messages.at(-1)?.content ?? '';
        const call: RecordedCall = { content, from: performance.now(), to: Infinity };
        provider.calls.push(call);
        setTimeout(() => {
          call.to = performance.now();
          if (provider.throttled.delete(content)) {
            response.writeHead(429, { 'retry-after-ms': '50' }).end('{"error":{"message":"slow down"}}');
          } else if (body.stream === true) {
            response.writeHead(200, { 'content-type': 'text/event-stream' }).end(STREAM);
          } else response.writeHead(200, { 'content-type': 'application/json' }).end(PLAIN);
        }, provider.answerMs);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return provider;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

const PLAIN =
  '{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}';
const STREAM =
  'data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":null}]}\n\n' +
  'data: {"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
