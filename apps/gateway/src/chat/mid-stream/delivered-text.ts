import { createHash } from 'node:crypto';
import { readFrame, type ChunkReading, type StreamIdentity } from '@weir/protocol';
import type { Frame } from '@weir/upstream';

/** The beginning of an answer, recognisable without being kept: how long it is, and its digest. */
export interface TextPrefix {
  /** In UTF-16 code units, because chunks may be split inside a character. */
  readonly length: number;
  readonly digest: string;
}

/** What an answer begins with that goes on by itself. */
export const NOTHING_SAID: TextPrefix = { length: 0, digest: '' };

/** A digest of a text that comes in pieces; the same however it is cut. */
export class TextDigest {
  private readonly hash = createHash('sha256');
  length = 0;

  add(text: string): void {
    this.length += text.length;
    // UTF-8 would make the same bytes of every half of a character.
    this.hash.update(text, 'utf16le');
  }

  get prefix(): TextPrefix {
    return { length: this.length, digest: this.hash.copy().digest('base64') };
  }
}

/** What a caller has of an answer, as far as the answer may have to be asked again. */
export class DeliveredText {
  private readonly digest = new TextDigest();
  private readonly pieces: string[] = [];
  /** Visible chunks. */
  chunks = 0;
  /** False once something else than text was handed out: half a tool call can be neither repeated nor continued. */
  onlyText = true;
  identity: StreamIdentity | undefined;

  /** @param keepsText whether the text itself will be needed, not only its digest */
  constructor(private readonly keepsText: boolean) {}

  /** The frame goes to the caller. */
  add({ bytes, visible }: Frame): void {
    if (visible) this.chunks += 1;
    if (!visible && this.identity !== undefined) return;
    const reading = readFrame(bytes);
    if (reading.kind === 'chunk') this.learn(reading);
    // Text that nobody understands is text that nobody can recognise.
    else if (visible) this.onlyText = false;
  }

  get prefix(): TextPrefix {
    return this.digest.prefix;
  }

  /** Empty unless it is kept. */
  get text(): string {
    return this.pieces.join('');
  }

  private learn({ text, onlyText, identity }: ChunkReading): void {
    this.identity ??= identity.id === undefined ? undefined : identity;
    this.onlyText &&= onlyText;
    this.digest.add(text);
    if (this.keepsText) this.pieces.push(text);
  }
}
