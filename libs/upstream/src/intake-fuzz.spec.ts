import fc from 'fast-check';
import { GatewayError } from '@weir/kernel';
import { IntakeHarness } from './testing/intake-harness.js';

const FUZZ = { seed: 20_261_129, numRuns: 1500 } as const;
const WORDS = [
  'data: {"choices":[{"index":0,"delta":{"content":"héllo 🦀"},"finish_reason":null}]}\n\n',
  'data: {"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":null}]}\r\n\r\n',
  'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
  'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}\n\n',
  'data: {"error":{"message":"x","code":429}}\n\n',
  'data: [DONE]\n\n',
  'event: error\ndata: oh\n\n',
  ...[': ping\n\n', 'data: {"cho', '\r', '\n', '{', '[', '<', ' ', '\ufeff', 'data:', '"', '\\'],
];

/** As latin1, blanks and byte order marks before it allowed. */
const OPENS_LIKE_JSON = /^[\sï»¿]*[{[]/;

interface Outcome {
  readonly bytes: string;
  readonly ended: boolean;
  readonly code: string | undefined;
}

/** Feeds a body in pieces of these sizes and reads it as it comes. */
async function run(body: Uint8Array, sizes: readonly number[], end: 'end' | 'cut'): Promise<Outcome> {
  const harness = new IntakeHarness();
  harness.connect();
  harness.respond();
  let reading: Promise<void> | undefined;
  for (let at = 0, turn = 0; at < body.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    harness.intake.received(Buffer.from(body.subarray(at, at + size)));
    at += size;
    await Promise.resolve();
    await Promise.resolve();
    if (harness.answer && !reading) reading = harness.read();
  }
  if (end === 'end') harness.intake.ended();
  else harness.intake.broke(new Error('reset'));
  await harness.clock.advance(0);
  await (reading ?? harness.read());
  expect(harness.clock.armed).toBe(0);
  expect(harness.failure === undefined || harness.failure instanceof GatewayError).toBe(true);
  expect(harness.ended).toBe(harness.failure === undefined && harness.answer !== undefined);
  return {
    bytes: Buffer.concat(harness.frames.map((frame) => frame.bytes)).toString('latin1'),
    ended: harness.ended,
    code: harness.failure instanceof GatewayError ? harness.failure.code : undefined,
  };
}

describe('whatever comes', () => {
  it('ends once, hands out a prefix of what came, and all of it where it ends well', async () => {
    const body = fc
      .array(fc.constantFrom(...WORDS), { maxLength: 30 })
      .map((words) => Buffer.from(words.join('')));
    const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(body, sizes, fc.constantFrom('end', 'cut'), async (bytes, cut, end) => {
        const outcome = await run(bytes, cut, end);
        const whole = bytes.toString('latin1');
        // A body that opens like plain JSON is held and, where it is a completion, written anew.
        if (!OPENS_LIKE_JSON.test(whole)) expect(whole.startsWith(outcome.bytes)).toBe(true);
        if (outcome.ended && end === 'end' && !OPENS_LIKE_JSON.test(whole)) expect(outcome.bytes).toBe(whole);
        expect(await run(bytes, [bytes.length + 1], end)).toEqual(outcome);
      }),
      FUZZ,
    );
  });

  it('survives a million random bytes', async () => {
    let total = 0;
    const body = fc.uint8Array({ minLength: 2000, maxLength: 4000, size: 'max' });
    await fc.assert(
      fc.asyncProperty(body, fc.integer({ min: 1, max: 999 }), async (bytes, size) => {
        total += bytes.length;
        const text = Buffer.from('data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n');
        const outcome = await run(Buffer.concat([text, bytes]), [size], 'end');
        expect(outcome.code).toBe('stream_truncated');
      }),
      { ...FUZZ, numRuns: 400 },
    );
    expect(total).toBeGreaterThan(1_000_000);
  });

  it('splits at every byte without a difference', async () => {
    const body = Buffer.from(WORDS.slice(0, 4).join('') + 'data: [DONE]\n\n');
    const whole = await run(body, [body.length], 'end');
    expect(whole).toEqual({ bytes: body.toString('latin1'), ended: true, code: undefined });
    for (let at = 1; at < body.length; at += 1)
      expect(await run(body, [at, body.length], 'end')).toEqual(whole);
    expect(await run(body, [1], 'end')).toEqual(whole);
  });
});
