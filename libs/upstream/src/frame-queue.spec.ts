import fc from 'fast-check';
import { FrameQueue, HIGH_WATER_BYTES } from './frame-queue.js';
import type { Frame } from './stream-client.js';

const frame = (size: number): Frame => ({ bytes: Buffer.alloc(size), visible: true });

function queue(): { queue: FrameQueue; log: string[]; ends: string[] } {
  const log: string[] = [];
  const note = (word: string) => (): void => {
    log.push(word);
  };
  const source = { pause: note('pause'), resume: note('resume'), abandoned: note('abandoned') };
  const ends: string[] = [];
  const over = (thrown?: Error): void => {
    ends.push(thrown === undefined ? 'whole' : thrown.message);
  };
  return { queue: new FrameQueue({ ...source, over }), log, ends };
}

describe('FrameQueue', () => {
  it('stops its source above the mark and lets it go on below half of it', async () => {
    const { queue: frames, log } = queue();
    frames.push(frame(HIGH_WATER_BYTES));
    expect(log).toEqual([]);
    frames.push(frame(40_000));
    frames.push(frame(1));
    expect(log).toEqual(['pause']);
    await frames.next();
    await frames.next();
    expect(log).toEqual(['pause']);
    await frames.next();
    expect(log).toEqual(['pause', 'resume']);
    expect(frames.bytes).toBe(0);
  });

  it('hands out as one what came together, where that is wanted', async () => {
    const source = { pause: jest.fn(), resume: jest.fn(), abandoned: jest.fn(), over: jest.fn() };
    const frames = new FrameQueue(source, true);
    const pieces = ['a', 'bc', 'd'].map((text) => ({ bytes: Buffer.from(text), visible: text === 'bc' }));
    for (const piece of pieces) frames.push(piece);
    const large = frame(HIGH_WATER_BYTES);
    frames.push(large);
    expect(source.pause).toHaveBeenCalledTimes(1);
    expect((await frames.next()).value).toEqual({ bytes: Buffer.from('abcd'), visible: true });
    expect((await frames.next()).value).toBe(large);
    expect(frames.bytes).toBe(0);
    expect(source.resume).not.toHaveBeenCalled();
    const last = frames.next();
    expect(source.resume).toHaveBeenCalledTimes(1);
    frames.end();
    expect((await last).done).toBe(true);
  });

  it('hands a frame to a reader who waits, and keeps none', async () => {
    const { queue: frames } = queue();
    const waiting = frames.next();
    frames.push(frame(5));
    expect(frames.bytes).toBe(0);
    expect((await waiting).done).toBe(false);
  });

  it('counts a taken frame against the mark until its reader asks for the next one', async () => {
    const { queue: frames, log } = queue();
    frames.push(frame(HIGH_WATER_BYTES));
    await frames.next();
    expect(frames.bytes).toBe(0);
    frames.push(frame(1));
    expect(log).toEqual(['pause']);
    await frames.next();
    expect(log).toEqual(['pause', 'resume']);
  });

  it('holds one large event and no second for a reader who stopped', async () => {
    const { queue: frames, log } = queue();
    const waiting = frames.next();
    frames.push(frame(512 * 1024));
    expect(log).toEqual(['pause']);
    await waiting;
    expect(log).toEqual(['pause']);
    void frames.next();
    expect(log).toEqual(['pause', 'resume']);
  });

  it('forgets what it handed out when its reader leaves', async () => {
    const { queue: frames, log } = queue();
    frames.push(frame(512 * 1024));
    await frames.next();
    await frames.return();
    expect(frames.bytes).toBe(0);
    expect((await frames.next()).done).toBe(true);
    expect(log.filter((word) => word === 'abandoned')).toHaveLength(1);
  });

  it('hands out what came before a failure, but not before an abort', async () => {
    const failed = queue().queue;
    failed.push(frame(1));
    failed.fail(new Error('broke'));
    expect((await failed.next()).done).toBe(false);
    await expect(failed.next()).rejects.toThrow('broke');
    const aborted = queue().queue;
    aborted.push(frame(1));
    aborted.abort(new Error('left'));
    await expect(aborted.next()).rejects.toThrow('left');
    expect(aborted.bytes).toBe(0);
  });

  it('tells its source when the reader leaves early, and only then', async () => {
    const early = queue();
    await early.queue.return();
    expect(early.log).toEqual(['abandoned']);
    const late = queue();
    late.queue.end();
    await late.queue.return();
    expect(late.log).toEqual([]);
    expect((await late.queue.next()).done).toBe(true);
  });

  it('tells once that its reader is done, and not before', async () => {
    const whole = queue();
    whole.queue.push(frame(1));
    whole.queue.end();
    await whole.queue.next();
    expect(whole.ends).toEqual([]);
    await whole.queue.next();
    await whole.queue.next();
    await whole.queue.return();
    expect(whole.ends).toEqual(['whole']);

    const waiting = queue();
    const last = waiting.queue.next();
    waiting.queue.end();
    await last;
    expect(waiting.ends).toEqual(['whole']);

    const broken = queue();
    broken.queue.push(frame(1));
    broken.queue.fail(new Error('broke'));
    await broken.queue.next();
    expect(broken.ends).toEqual([]);
    await expect(broken.queue.next()).rejects.toThrow('broke');
    await broken.queue.return();
    expect(broken.ends).toEqual(['broke']);

    const left = queue();
    left.queue.push(frame(1));
    await left.queue.return();
    await left.queue.next();
    expect(left.ends).toEqual(['The reader left.']);
  });

  it('can be aborted up to the last frame', async () => {
    const { queue: frames, ends } = queue();
    frames.push(frame(1));
    frames.end();
    frames.abort(new Error('left'));
    expect(ends).toEqual(['left']);
    await expect(frames.next()).rejects.toThrow('left');
    expect(frames.bytes).toBe(0);

    const done = queue();
    done.queue.end();
    await done.queue.next();
    done.queue.abort(new Error('too late'));
    expect(done.ends).toEqual(['whole']);
    expect((await done.queue.next()).done).toBe(true);
  });

  it('keeps order and count under any interleaving', async () => {
    const step = fc.constantFrom<'push' | 'take'>('push', 'take');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 200 }), async (steps) => {
        const { queue: frames, log } = queue();
        const got: Promise<IteratorResult<Frame>>[] = [];
        let pushed = 0;
        let asked = 0;
        for (const next of steps) {
          // One reader: it asks again only when it has what it asked for.
          if (next === 'push') frames.push(frame(((pushed += 1) * 997) % 30_000));
          else if (asked < pushed + 1) asked = got.push(frames.next());
        }
        frames.end();
        const results = await Promise.all(got);
        const rest: Frame[] = [];
        for await (const left of frames) rest.push(left);
        const sizes = [...results.flatMap((result) => (result.done === true ? [] : [result.value])), ...rest];
        expect(sizes.map(({ bytes }) => bytes.length)).toEqual(
          Array.from({ length: pushed }, (_, index) => ((index + 1) * 997) % 30_000),
        );
        expect(frames.bytes).toBe(0);
        expect(log.filter((word) => word === 'pause').length).toBeGreaterThanOrEqual(
          log.filter((word) => word === 'resume').length,
        );
      }),
      { seed: 20_261_129, numRuns: 300 },
    );
  });
});
