import { CHUNKS, CHUNKS_A_WRITE } from './loads.js';

const SAID = {
  id: 'chatcmpl-7c1f0a94e2b84d6f9f3e5a70c2',
  created: 1_790_000_000,
  model: 'fake-model-2026-11',
} as const;
const USAGE = { prompt_tokens: 16, completion_tokens: 64, total_tokens: 80 };

/** A plain answer, head included: 430 bytes of body. */
export const PLAIN_ANSWER = plainAnswer();

/** The head of a stream. */
export const STREAM_HEAD = Buffer.from(
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n',
);

/** A stream in its own chunks: one for each event, and the last with the end of the body. */
export const SINGLE_WRITES: readonly Buffer[] = writesOf(1);
/** The same in bursts. */
export const BURST_WRITES: readonly Buffer[] = writesOf(CHUNKS_A_WRITE);

function plainAnswer(): Buffer {
  const message = {
    role: 'assistant',
    content: 'A low dam that holds a river back. '.repeat(3).slice(0, 89),
  };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }];
  const body = JSON.stringify({
    ...{ id: SAID.id, object: 'chat.completion', created: SAID.created, model: SAID.model },
    ...{ choices, usage: USAGE, system_fingerprint: 'fp_0123456789abcdef' },
  });
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  return Buffer.from(head + body);
}

function writesOf(eventsPerWrite: number): readonly Buffer[] {
  const events = [...chunkEvents(), ...lastEvents()];
  const writes: Buffer[] = [];
  for (let at = 0; at < events.length; at += eventsPerWrite)
    writes.push(httpChunk(events.slice(at, at + eventsPerWrite).join('')));
  return [...writes.slice(0, -1), Buffer.concat([...writes.slice(-1), Buffer.from('0\r\n\r\n')])];
}

/** Words of different lengths, and a line break now and then, because escapes take a slower way in some gateways. */
function chunkEvents(): readonly string[] {
  return Array.from({ length: CHUNKS }, (_, number) => {
    if (number === 0) return chunk({ role: 'assistant', content: '' }, null);
    if (number === CHUNKS - 1) return chunk({}, 'stop');
    const word = ' weirs'.slice(0, 2 + (number % 5));
    return chunk({ content: number % 16 === 0 ? `${word}\n` : word }, null);
  });
}

function lastEvents(): readonly string[] {
  const { id, created, model } = SAID;
  const usage = { id, object: 'chat.completion.chunk', created, model, choices: [], usage: USAGE };
  return [`data: ${JSON.stringify(usage)}\n\n`, 'data: [DONE]\n\n'];
}

function chunk(delta: object, finishReason: string | null): string {
  const { id, created, model } = SAID;
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finishReason }];
  const event = { id, object: 'chat.completion.chunk', created, model, system_fingerprint: null, choices };
  return `data: ${JSON.stringify(event)}\n\n`;
}

function httpChunk(text: string): Buffer {
  return Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
}
