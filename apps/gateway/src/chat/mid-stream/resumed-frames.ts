import { GatewayError } from '@weir/kernel';
import { readFrame, rewriteFrame, type ChunkReading, type FrameChanges } from '@weir/protocol';
import type { Frame } from '@weir/upstream';
import { TextDigest, type TextPrefix } from './delivered-text.js';

/** Which part of a second answer the caller gets, and as whose. */
export interface Seam {
  /** What the second answer has to say first. Of length 0 where it goes on by itself. */
  readonly prefix: TextPrefix;
  /** Identity of the first answer, and numbers that were charged for it. */
  readonly changes: FrameChanges;
}

/**
 * Reads a second answer and gives out what the caller does not have yet. Nothing is given out before the text of the
 * first answer was repeated exactly; the frame in which it ends is cut there. Constant memory: text is compared by digest.
 */
export class ResumedFrames {
  private readonly repeated = new TextDigest();
  private joined = false;

  constructor(private readonly seam: Seam) {}

  /**
   * What of the frame is new to the caller; undefined where nothing is.
   * @throws GatewayError `stream_truncated` where the second answer is another one
   */
  next(frame: Frame): Frame | undefined {
    if (this.joined) return this.renamed(frame, {});
    const reading = readFrame(frame.bytes);
    if (reading.kind === 'nothing') return undefined;
    if (reading.kind === 'chunk') return this.chunk(frame, reading);
    if (this.missing > 0) throw diverged();
    this.joined = true;
    return frame;
  }

  private chunk(frame: Frame, { text, onlyText, finished }: ChunkReading): Frame | undefined {
    const known = text.slice(0, this.missing);
    if (!onlyText && known.length < this.missing) throw diverged();
    this.repeat(known);
    const rest = text.slice(known.length);
    if (this.missing > 0 && finished) throw diverged();
    // A role, or the very last of what the caller has: there is nothing new in it.
    if (this.missing > 0 || (rest === '' && onlyText && !finished)) return undefined;
    this.joined = true;
    return this.renamed(frame, known === '' ? {} : { text: rest });
  }

  private get missing(): number {
    return this.seam.prefix.length - this.repeated.length;
  }

  private repeat(text: string): void {
    if (text === '') return;
    this.repeated.add(text);
    if (this.missing === 0 && this.repeated.prefix.digest !== this.seam.prefix.digest) throw diverged();
  }

  private renamed({ bytes, visible }: Frame, cut: FrameChanges): Frame {
    return {
      bytes: rewriteFrame(bytes, { ...this.seam.changes, ...cut }),
      visible: visible && cut.text !== '',
    };
  }
}

/** Not asked again: a provider that says something else once will do so twice, at the same price. */
function diverged(): GatewayError {
  return new GatewayError(
    'stream_truncated',
    'The provider broke off, and when asked again it gave another answer. What came so far is incomplete; ask again.',
    { origin: 'provider', failure: 'fatal', sent: true, committed: true },
  );
}
