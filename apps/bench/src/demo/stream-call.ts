import { createHash } from 'node:crypto';
import { Agent, request, type IncomingMessage } from 'node:http';
import { z } from 'zod';
import type { Question } from './workload.js';

/** Where to ask, and as whom. */
export interface Endpoint {
  /** Without a path: `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly key: string;
}

/** How one call went. Times are of this process's clock, in milliseconds. */
export const CallResult = z.object({
  status: z.number(),
  sentAt: z.number(),
  /** The first byte of the body; absent where none came. */
  firstByteAt: z.number().exactOptional(),
  /** The first piece of text; absent where none came. */
  firstTextAt: z.number().exactOptional(),
  endedAt: z.number(),
  /** The stream ended with `[DONE]`. */
  whole: z.boolean(),
  /** SHA-256 of the text that came, and the one that the simulator says it sent. */
  sha256: z.string(),
  toldSha256: z.string().exactOptional(),
  headers: z.record(z.string(), z.string()),
});
export type CallResult = z.infer<typeof CallResult>;

const Chunk = z.object({
  choices: z.array(z.object({ delta: z.object({ content: z.string().nullish() }).optional() })).optional(),
});

/** One streaming chat completion, as any OpenAI client sends it, on a socket of its own unless `agent` has one. */
export async function streamCall(endpoint: Endpoint, question: Question, agent?: Agent): Promise<CallResult> {
  const body = JSON.stringify({
    model: question.model,
    messages: [{ role: 'user', content: question.prompt }],
    stream: true,
    max_tokens: 4096,
    temperature: 0.7,
  });
  const sentAt = performance.now();
  const response = await send(endpoint, body, question.conversation, agent);
  return read(response, sentAt);
}

/** Opens a connection that the next call with this agent uses, so that nobody's turn depends on who is accepted first. */
export async function connected(endpoint: Endpoint): Promise<Agent> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(`${endpoint.url}/healthz`, { agent }, resolve).on('error', reject).end();
  });
  for await (const _ of response);
  return agent;
}

function send(
  { url, key }: Endpoint,
  body: string,
  conversation: string | undefined,
  agent: Agent | undefined,
): Promise<IncomingMessage> {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...(conversation === undefined ? {} : { 'x-conversation-id': conversation }),
  };
  return new Promise((resolve, reject) => {
    request(`${url}/v1/chat/completions`, { method: 'POST', headers, agent: agent ?? false }, resolve)
      .on('error', reject)
      .end(body);
  });
}

async function read(response: IncomingMessage, sentAt: number): Promise<CallResult> {
  response.setEncoding('utf8');
  const hash = createHash('sha256');
  const told: { firstByteAt?: number; firstTextAt?: number; toldSha256?: string } = {};
  let [whole, rest] = [false, ''];
  for await (const piece of response) {
    told.firstByteAt ??= performance.now();
    const lines = (rest + String(piece)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const text = textOf(line);
      if (text !== '') told.firstTextAt ??= performance.now();
      hash.update(text);
      const [, sha256] = /^: x-sim-text-sha256 (\w+)/.exec(line) ?? [];
      if (sha256 !== undefined) told.toldSha256 = sha256;
      whole ||= line === 'data: [DONE]';
    }
  }
  const [status = 0, endedAt] = [response.statusCode, performance.now()];
  const headers = Object.fromEntries(
    Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
  );
  return { status, sentAt, ...told, endedAt, whole, sha256: hash.digest('hex'), headers };
}

function textOf(line: string): string {
  if (!line.startsWith('data: {')) return '';
  const { choices } = Chunk.parse(JSON.parse(line.slice('data: '.length)));
  return choices?.map(({ delta }) => delta?.content ?? '').join('') ?? '';
}

/** Whether the whole text came, and is the one that the simulator sent. */
export function isTrue(result: CallResult): boolean {
  return result.status === 200 && result.whole && result.sha256 === result.toldSha256;
}
