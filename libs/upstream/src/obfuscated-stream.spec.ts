import { IntakeHarness } from './testing/intake-harness.js';

/** A chunk as OpenAI sends it: padded, so that its length does not tell that of its text. */
function chunk(delta: object, obfuscation: unknown, rest: object = {}): string {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: null, ...rest }];
  const fields = { id: 'c-1', object: 'chat.completion.chunk', created: 1, model: 'm', choices };
  return `data: ${JSON.stringify({ ...fields, usage: null, obfuscation })}\n\n`;
}

const FIRST = chunk({ role: 'assistant', content: '' }, 'W4GzZpbF8');
const STOP = chunk({}, 'k2', { finish_reason: 'stop' });
const USAGE =
  'data: {"id":"c-1","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13},"obfuscation":"x7Q"}\n\n';
const DONE = 'data: [DONE]\n\n';

async function read(events: readonly string[], pieceBytes: number): Promise<IntakeHarness> {
  const harness = new IntakeHarness({ usageInjected: true });
  harness.connect();
  harness.respond();
  const bytes = Buffer.from(events.join(''));
  for (let at = 0; at < bytes.length; at += pieceBytes)
    harness.intake.received(Buffer.from(bytes.subarray(at, at + pieceBytes)));
  harness.intake.ended();
  await harness.clock.advance(0);
  await harness.read();
  return harness;
}

describe('a stream whose chunks are padded with `obfuscation`', () => {
  it.each([1, 17, 100_000])('is read as if they were not, in reads of %i bytes', async (pieceBytes) => {
    const texts = ['Hel', 'lo', ' wör', 'ld 🦀', '"quoted"\n', 'a'];
    const content = [
      ...texts.map((text, index) => chunk({ content: text }, 'v9rTq'.slice(index % 4))),
      // Padding that looks like a chunk, that is missing, or that is the same as before.
      chunk({ content: 'b' }, '"content":"c"}},"error":{"code":429}'),
      chunk({ content: 'd' }, undefined),
      chunk({ content: 'e' }, ''),
      chunk({ content: 'f' }, ''),
    ];
    const visibleBytes = Buffer.byteLength(`${texts.join('')}bdef`);
    const harness = await read([FIRST, ...content, STOP, USAGE, DONE], pieceBytes);
    const { answer, ended, frames, failure } = harness;
    expect({ ended, failure }).toEqual({ ended: true, failure: undefined });
    expect(frames.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual([
      ...[FIRST, ...content, STOP, DONE],
    ]);
    expect(frames.map(({ visible }) => visible)).toEqual([false, ...content.map(() => true), false, false]);
    expect(answer?.reading).toMatchObject({
      visibleBytes,
      finishReason: 'stop',
      usage: { inputTokens: 9, outputTokens: 4, totalTokens: 13 },
    });
  });

  it('shows its error among them', async () => {
    const error = 'data: {"error":{"message":"slow down","code":429},"obfuscation":"v9rTq"}\n\n';
    const { failure } = await read([FIRST, chunk({ content: 'a' }, 'x'), error], 100_000);
    expect(failure).toMatchObject({ upstreamStatus: 429, committed: true });
  });
});
