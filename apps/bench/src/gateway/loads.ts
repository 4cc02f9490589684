/** What callers ask for. */
export interface Load {
  readonly name: LoadName;
  readonly title: string;
  /** Callers that ask again as soon as they are answered. */
  readonly connections: number;
  /** How long callers go on at a time. */
  readonly seconds: number;
  /** CPU that a server has to spend on it in one window. */
  readonly cpuSeconds: number;
  /** CPU that a server spends on it before it is measured: compilers need their time, and a busy machine has little. */
  readonly warmUpCpuSeconds: number;
  readonly body: string;
  /** Answers shorter than this are faults. */
  readonly leastBytes: number;
}

/** Also the name of the model, which tells the provider how to answer. */
export type LoadName = 'plain' | 'burst' | 'paced';

/** Chunks of a stream; usage and `[DONE]` follow. */
export const CHUNKS = 64;
/** Chunks that the provider writes at once in a burst. */
export const CHUNKS_A_WRITE = 16;
/** How far apart the chunks of a paced stream are. */
export const PACE_MS = 20;

/** A question of 30 bytes. */
const MESSAGES = [{ role: 'user', content: 'What is a weir, in one phrase?' }];

function bodyOf(model: LoadName, stream: boolean): string {
  return JSON.stringify({ model, ...(stream ? { stream } : {}), messages: MESSAGES });
}

/** What every target is measured with. */
export const LOADS: readonly Load[] = [
  {
    name: 'plain',
    title: 'Plain answers of 430 bytes, 32 callers',
    connections: 32,
    seconds: 1,
    cpuSeconds: 0.6,
    warmUpCpuSeconds: 8,
    body: bodyOf('plain', false),
    leastBytes: 400,
  },
  {
    name: 'burst',
    title: `Streams of ${CHUNKS} chunks, ${CHUNKS_A_WRITE} a write, 32 callers`,
    connections: 32,
    seconds: 1,
    cpuSeconds: 0.6,
    warmUpCpuSeconds: 8,
    body: bodyOf('burst', true),
    leastBytes: CHUNKS * 200,
  },
  {
    name: 'paced',
    title: `Streams of ${CHUNKS} chunks, one every ${PACE_MS} ms, 120 callers`,
    connections: 120,
    seconds: 3,
    cpuSeconds: 0.4,
    warmUpCpuSeconds: 2,
    body: bodyOf('paced', true),
    leastBytes: CHUNKS * 200,
  },
];
