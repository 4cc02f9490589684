import { readFrame } from '@weir/protocol';
import type { Frame } from '@weir/upstream';
import fc from 'fast-check';
import { DeliveredText, NOTHING_SAID } from './delivered-text.js';
import { ResumedFrames, type Seam } from './resumed-frames.js';

const FUZZ = { seed: 20_261_129, numRuns: 400 } as const;
const DIVERGED = /gave another answer/;
const FINISH = chunk({}, 'stop');
const DONE: Frame = { bytes: Buffer.from(': bye\ndata: [DONE]\n\n'), visible: false };

function chunk(delta: object, finish: string | null = null): Frame {
  const json = { id: 'second', created: 2, choices: [{ index: 0, delta, finish_reason: finish }] };
  return { bytes: Buffer.from(`data: ${JSON.stringify(json)}\n\n`), visible: 'content' in delta };
}

function texts(pieces: readonly string[]): readonly Frame[] {
  return pieces.map((content) => chunk({ content }));
}

/** Of lengths that have nothing to do with words or characters. */
function cut(text: string, sizes: readonly number[]): readonly string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    const size = sizes[pieces.length % sizes.length] ?? 1;
    pieces.push(text.slice(at, at + size));
    at += size;
  }
  return pieces;
}

function after(pieces: readonly string[]): DeliveredText {
  const delivered = new DeliveredText(false);
  delivered.add(chunk({ role: 'assistant' }));
  for (const frame of texts(pieces)) delivered.add(frame);
  return delivered;
}

function seam(delivered: DeliveredText): Seam {
  return { prefix: delivered.prefix, changes: { identity: { id: 'first', created: 1 } } };
}

function read(frames: readonly (Frame | undefined)[]): string {
  return frames
    .map((frame) => (frame === undefined ? undefined : readFrame(frame.bytes)))
    .map((reading) => (reading?.kind === 'chunk' ? reading.text : ''))
    .join('');
}

const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 60 });
const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });

describe('the frames of a second answer', () => {
  it('begin exactly where the first one broke, wherever either was cut', () => {
    fc.assert(
      fc.property(text, sizes, sizes, fc.nat(), (whole, first, second, at) => {
        const sent = cut(whole, first);
        const had = sent.slice(0, at % (sent.length + 1));
        const resumed = new ResumedFrames(seam(after(had)));
        const answer = [
          chunk({ role: 'assistant', content: '' }),
          ...texts(cut(whole, second)),
          FINISH,
          DONE,
        ];
        const fresh = answer.map((frame) => resumed.next(frame));
        expect(had.join('') + read(fresh)).toBe(whole);
        const given = fresh.filter((frame) => frame !== undefined);
        expect(given.at(-1)).toEqual(DONE);
        // No role and no empty chunk among them, and none that shows where it comes from.
        const visible = given.slice(0, -2).map(({ bytes }) => readFrame(bytes));
        for (const reading of visible)
          expect(reading).toMatchObject({ kind: 'chunk', identity: { id: 'first', created: 1 } });
        expect(visible.map((reading) => 'text' in reading && reading.text)).not.toContain('');
      }),
      FUZZ,
    );
  });

  it('are refused, and none is given out, where the text is another one', () => {
    fc.assert(
      fc.property(text, sizes, sizes, fc.nat(), (whole, first, second, at) => {
        const spoilt = at % whole.length;
        const other = `${whole.slice(0, spoilt)}${whole[spoilt] === 'x' ? 'y' : 'x'}${whole.slice(spoilt + 1)}`;
        const resumed = new ResumedFrames(seam(after(cut(whole, first))));
        const fresh: (Frame | undefined)[] = [];
        const run = (): void => {
          for (const frame of [...texts(cut(other, second)), FINISH, DONE]) fresh.push(resumed.next(frame));
        };
        expect(run).toThrow(DIVERGED);
        expect(fresh.filter((frame) => frame !== undefined)).toEqual([]);
      }),
      FUZZ,
    );
  });

  it.each([
    ['a finish', FINISH],
    ['[DONE]', DONE],
    ['text that finishes', chunk({ content: 'b' }, 'length')],
    ['a tool call', chunk({ tool_calls: [{ index: 0, function: { name: 'f', arguments: '{' } }] })],
  ])('are refused where the answer ends before that with %s', (_, frame) => {
    const resumed = new ResumedFrames(seam(after(['abc'])));
    expect(resumed.next(chunk({ content: 'a' }))).toBeUndefined();
    expect(() => resumed.next(frame)).toThrow(DIVERGED);
  });

  it('keep a finish that comes with the last of the text', () => {
    const resumed = new ResumedFrames(seam(after(['abc'])));
    const frame = resumed.next(chunk({ content: 'abc' }, 'stop'));
    expect(frame && readFrame(frame.bytes)).toMatchObject({ text: '', finished: true });
    expect(frame?.visible).toBe(false);
  });

  it('of the rest of an answer begin at once, without its role, and with the numbers of both', () => {
    const usage = { inputTokens: 10, outputTokens: 20 };
    const resumed = new ResumedFrames({ prefix: NOTHING_SAID, changes: { usage } });
    expect(resumed.next(chunk({ role: 'assistant', content: '' }))).toBeUndefined();
    expect(read([resumed.next(chunk({ content: 'x' }))])).toBe('x');
    const told = { choices: [], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } };
    const frame = { bytes: Buffer.from(`data: ${JSON.stringify(told)}\n\n`), visible: false };
    expect(Buffer.from(resumed.next(frame)?.bytes ?? []).toString()).toBe(
      'data: {"choices":[],"usage":{"prompt_tokens":11,"completion_tokens":22,"total_tokens":33}}\n\n',
    );
  });
});

describe('what was delivered', () => {
  it('is text only until something else comes', () => {
    const delivered = after(['a']);
    expect([delivered.onlyText, delivered.chunks]).toEqual([true, 1]);
    delivered.add({ ...chunk({ content: null, tool_calls: [{ index: 0 }] }), visible: true });
    expect([delivered.onlyText, delivered.chunks]).toEqual([false, 2]);
  });

  it('is kept only where it will be asked for', () => {
    const kept = new DeliveredText(true);
    for (const frame of texts(['a', 'b'])) kept.add(frame);
    expect([kept.text, after(['a', 'b']).text]).toEqual(['ab', '']);
    expect(kept.prefix).toEqual(after(['ab']).prefix);
  });
});
