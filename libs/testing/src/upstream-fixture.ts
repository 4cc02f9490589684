import { GatewayError, type Milliseconds } from '@weir/kernel';
import type { StreamClient, UpstreamAnswer, UpstreamRequest } from '@weir/upstream';
import { ScriptedUpstream, type ScriptedAnswer } from './scripted-upstream.js';

/** How a contract run wants its client. The account is always `main`, profile generic. */
export interface ClientOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly connections: number;
  readonly timeouts: Readonly<
    Record<'connectMs' | 'headersMs' | 'firstFrameMs' | 'idleMs' | 'totalMs', Milliseconds>
  >;
}

/** Limits that no test reaches unless it wants to. */
export const PATIENT = {
  connectMs: 5000,
  headersMs: 5000,
  firstFrameMs: 5000,
  idleMs: 5000,
  totalMs: 20_000,
};
/** Headers of a stream. */
export const SSE = { 'content-type': 'text/event-stream' };
/** Headers of a plain answer. */
export const JSON_TYPE = { 'content-type': 'application/json' };
/** OpenAI's end mark. */
export const DONE = 'data: [DONE]\n\n';

function chunk(delta: object, finish: string | null = null): string {
  const choice = { index: 0, delta, finish_reason: finish };
  return `data: ${JSON.stringify({ id: 'c1', model: 'm-1', choices: [choice] })}\n\n`;
}

/** A first chunk that shows nothing. */
export const ROLE = chunk({ role: 'assistant', content: '' });
/** A chunk that ends the choice. */
export const STOP = chunk({}, 'stop');
/** A chunk of text. */
export const text = (content: string): string => chunk({ content });
/** A provider's error inside a stream. */
export const error = (code: number, type: string): string =>
  `data: ${JSON.stringify({ error: { message: 'no', type, param: null, code } })}\n\n`;

/** A 200 that streams these pieces. */
export function stream(...chunks: readonly string[]): ScriptedAnswer {
  return { headers: SSE, chunks };
}

function request(changes: Partial<UpstreamRequest> = {}): UpstreamRequest {
  return {
    identity: {
      requestId: 'r',
      team: 't',
      model: 'm',
      operation: 'chat',
      template: 'none',
      priority: 'normal',
    },
    target: { account: 'main', model: 'm' },
    attempt: 1,
    path: '/chat/completions',
    body: Buffer.from('{"model":"m"}'),
    stream: true,
    usageInjected: false,
    ...changes,
  };
}

/** An answer's frames, read to the end. */
export async function readAll(answer: UpstreamAnswer): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const frame of answer.frames) parts.push(frame.bytes);
  return Buffer.concat(parts).toString('utf8');
}

/** The GatewayError that the work ends with. */
export async function failureOf(work: Promise<unknown>): Promise<GatewayError> {
  const outcome = await work.then(
    () => 'no failure',
    (thrown: unknown) => thrown,
  );
  if (outcome instanceof GatewayError) return outcome;
  throw new Error('expected a GatewayError', { cause: outcome });
}

/** A scripted provider and a client for it; new for each test. */
export class UpstreamFixture {
  upstream!: ScriptedUpstream;
  client!: StreamClient;
  abort = new AbortController();

  constructor(private readonly make: (options: ClientOptions) => StreamClient) {
    beforeEach(async () => {
      this.upstream = await ScriptedUpstream.start();
      this.abort = new AbortController();
      this.start();
    });
    afterEach(async () => {
      await this.client.close();
      await this.upstream.stop();
    });
  }

  /** Builds the client anew, with other options. */
  start(changes: Partial<ClientOptions> = {}): void {
    const { baseUrl } = this.upstream;
    this.client = this.make({ baseUrl, apiKey: 'key-1', connections: 4, timeouts: PATIENT, ...changes });
  }

  open(changes: Partial<UpstreamRequest> = {}): Promise<UpstreamAnswer> {
    return this.client.open(request(changes), this.abort.signal);
  }
}
