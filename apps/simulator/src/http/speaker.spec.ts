import fc from 'fast-check';
import { FakeClock, settled } from '@weir/testing';
import type { Answer, Frame } from '../answer/answer.js';
import type { Sink } from './sink.js';
import { Speaker, type Listener, type Tempo } from './speaker.js';

class RecordingSink implements Sink {
  private readonly controller = new AbortController();
  readonly gone = this.controller.signal;
  readonly log: string[] = [];
  /** Resolves writes; undefined takes everything at once. */
  blocked: Promise<void> | undefined;

  constructor(private readonly clock: FakeClock) {}

  async open(): Promise<void> {
    this.note('open');
  }
  async write(bytes: string | Buffer): Promise<void> {
    this.gone.throwIfAborted();
    if (bytes.length > 0) this.note(bytes.toString());
    await this.blocked;
  }
  async end(): Promise<void> {
    this.note('end');
  }
  leave(): void {
    this.controller.abort(new Error('gone'));
  }
  private note(what: string): void {
    this.log.push(`${this.clock.now()} ${what}`);
  }
}

function listener(): Listener & { readonly heard: string[] } {
  const heard: string[] = [];
  return {
    heard,
    produce: (tokens) => {
      if (tokens > 0) heard.push(`produce ${tokens}`);
    },
    complete: () => void heard.push('complete'),
    abort: () => void heard.push('abort'),
  };
}

const frame = (bytes: string, tokens: number, more: Partial<Frame> = {}): Frame => ({
  bytes,
  tokens,
  ...more,
});
const stream = (...frames: Frame[]): Answer => ({ status: 200, headers: {}, streams: true, frames });
const FAST: Tempo = { firstTokenMs: 0, tokensPerSecond: 0 };

function setUp() {
  const clock = new FakeClock();
  const sink = new RecordingSink(clock);
  return { clock, sink, heard: listener(), speaker: new Speaker(clock, clock) };
}

describe('the speaker', () => {
  it('opens a stream at once, begins after the first-token delay, and keeps the pace', async () => {
    const { clock, sink, heard, speaker } = setUp();
    const answer = stream(frame('role', 0), frame('a', 1), frame('b', 1), frame('c', 1), frame('done', 0));
    const speaking = speaker.speak(answer, { firstTokenMs: 100, tokensPerSecond: 10 }, sink, heard);
    await clock.advance(1000);
    await speaking;
    expect(sink.log).toEqual(['0 open', '100 rolea', '200 b', '300 cdone', '300 end']);
    expect(heard.heard).toEqual(['produce 1', 'produce 1', 'produce 1', 'complete']);
  });

  it('opens a plain answer when it is finished', async () => {
    const { clock, sink, heard, speaker } = setUp();
    const answer = { ...stream(frame('body', 11)), streams: false };
    const speaking = speaker.speak(answer, { firstTokenMs: 50, tokensPerSecond: 100 }, sink, heard);
    await clock.advance(1000);
    await speaking;
    expect(sink.log).toEqual(['150 open', '150 body', '150 end']);
  });

  it('shifts everything behind a stall', async () => {
    const { clock, sink, heard, speaker } = setUp();
    const answer = stream(frame('a', 1), frame('b', 1, { stallMs: 500 }), frame('c', 1));
    const speaking = speaker.speak(answer, { firstTokenMs: 0, tokensPerSecond: 10 }, sink, heard);
    await clock.advance(5000);
    await speaking;
    expect(sink.log).toEqual(['0 open', '0 a', '600 b', '700 c', '700 end']);
  });

  it('says nothing after a frame that breaks off, and does not call it complete', async () => {
    const { sink, heard, speaker } = setUp();
    await speaker.speak(
      stream(frame('a', 1), frame('error', 0, { breaksOff: true }), frame('b', 1)),
      FAST,
      sink,
      heard,
    );
    expect(sink.log).toEqual(['0 open', '0 aerror', '0 end']);
    expect(heard.heard).toEqual(['produce 1', 'abort']);
  });

  it('makes no frame that the caller has no room for', async () => {
    const { sink, heard, speaker } = setUp();
    let made = 0;
    function* endless(): Generator<Frame> {
      for (;;) yield frame('x'.repeat(1000), (made += 1) && 1);
    }
    sink.blocked = new Promise(() => undefined);
    void speaker.speak({ ...stream(), frames: endless() }, FAST, sink, heard);
    await settled();
    const before = made;
    await settled();
    expect(made).toBe(before);
    expect(made).toBeLessThan(20);
  });

  it('tells exactly one end, whenever the caller leaves, and leaves no timer', async () => {
    const tempos = fc.record({ firstTokenMs: fc.nat(50), tokensPerSecond: fc.constantFrom(0, 20, 1000) });
    await fc.assert(
      fc.asyncProperty(tempos, fc.nat(400), async (tempo, leaveAt) => {
        const { clock, sink, heard, speaker } = setUp();
        const speaking = speaker.speak(
          stream(...Array.from({ length: 9 }, () => frame('t', 1))),
          tempo,
          sink,
          heard,
        );
        await clock.advance(leaveAt);
        sink.leave();
        await clock.advance(2000);
        await speaking;
        expect(heard.heard.filter((what) => !what.startsWith('produce'))).toHaveLength(1);
        expect(clock.armed).toBe(0);
      }),
      { seed: 20260104, numRuns: 100 },
    );
  });

  it('passes on what is a mistake of ours', async () => {
    const { sink, heard, speaker } = setUp();
    sink.open = () => Promise.reject(new TypeError('ours'));
    await expect(speaker.speak(stream(), FAST, sink, heard)).rejects.toThrow('ours');
    expect(heard.heard).toEqual(['abort']);
  });
});
