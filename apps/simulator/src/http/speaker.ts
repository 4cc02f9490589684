import { sleep, type Clock, type Milliseconds, type Timers, type Tokens } from '@weir/kernel';
import type { Answer, Frame } from '../answer/answer.js';
import type { Behaviour } from '../provider/behaviour.js';
import type { Sink } from './sink.js';

/** When tokens are spoken. */
export type Tempo = Pick<Behaviour, 'firstTokenMs' | 'tokensPerSecond'>;

/** Whoever is told what became of an answer: a running call, or nobody. */
export interface Listener {
  /** Tokens that are about to be sent. */
  produce(tokens: Tokens): void;
  complete(): void;
  abort(): void;
}

/** For answers that nobody pays for. */
export const NOBODY: Listener = {
  produce: () => undefined,
  complete: () => undefined,
  abort: () => undefined,
};

/** Frames that are due together are written together, up to about this many characters. */
const BATCH_LENGTH = 16_384;

/** Sends answers in their tempo, and no faster than the caller reads. */
export class Speaker {
  constructor(
    private readonly clock: Clock,
    private readonly timers: Timers,
  ) {}

  /**
   * Sends the whole answer. Exactly one of `complete` and `abort` is called, when the last byte was handed over
   * or the connection was gone; a connection that is gone is no error here.
   */
  async speak(answer: Answer, tempo: Tempo, sink: Sink, listener: Listener = NOBODY): Promise<void> {
    try {
      if (answer.streams) await sink.open(answer.status, answer.headers, true);
      const whole = await this.sendFrames(answer, tempo, sink, listener);
      await sink.end();
      if (whole) listener.complete();
      else listener.abort();
    } catch (error) {
      listener.abort();
      if (!sink.gone.aborted) throw error;
    }
  }

  /** @returns whether the answer was whole */
  private async sendFrames(answer: Answer, tempo: Tempo, sink: Sink, listener: Listener): Promise<boolean> {
    let start = this.clock.now() + tempo.firstTokenMs;
    let spoken: Tokens = 0;
    let batch = new Batch();
    const flush = async (): Promise<void> => {
      const { bytes, tokens } = batch;
      batch = new Batch();
      listener.produce(tokens);
      await sink.write(bytes);
    };
    const fairness = new TimeSlice(this.clock, this.timers);
    for (const frame of answer.frames) {
      spoken += frame.tokens;
      const stallMs = frame.stallMs ?? 0;
      start += stallMs;
      const waitMs = start + spokenMs(spoken, tempo) - this.clock.now();
      if (stallMs > 0 || waitMs > 0) {
        await flush();
        await sleep(Math.max(stallMs, waitMs), this.timers, sink.gone);
      }
      if (!answer.streams) await sink.open(answer.status, answer.headers, false);
      batch.add(frame);
      if (batch.bytes.length >= BATCH_LENGTH) await flush().then(() => fairness.yield());
      if (frame.breaksOff) return flush().then(() => false);
    }
    await flush();
    return true;
  }
}

/** How long one answer may be written without a look at the others. */
const SLICE_MS: Milliseconds = 10;

/** Lets other connections have their turn while a caller reads as fast as we write. */
class TimeSlice {
  private since: Milliseconds;

  constructor(
    private readonly clock: Clock,
    private readonly timers: Timers,
  ) {
    this.since = clock.now();
  }

  async yield(): Promise<void> {
    if (this.clock.now() - this.since < SLICE_MS) return;
    await sleep(0, this.timers);
    this.since = this.clock.now();
  }
}

class Batch {
  bytes = '';
  tokens: Tokens = 0;

  add(frame: Frame): void {
    this.bytes += frame.bytes;
    this.tokens += frame.tokens;
  }
}

/** How long after the first token the last of so many is spoken. */
function spokenMs(tokens: Tokens, { tokensPerSecond }: Tempo): Milliseconds {
  return tokensPerSecond > 0 ? (Math.max(0, tokens - 1) * 1000) / tokensPerSecond : 0;
}
