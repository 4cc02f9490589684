import type { Assembly, AssemblyOutput } from './assembly.js';

const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
const LESS_THAN = 0x3c;
const BRACE = 0x7b;
const BRACKET = 0x5b;
/** Nobody needs more blanks than this before an answer; a flood of them must not fill the memory. */
const MAX_BLANK_BYTES = 64 * 1024;

/** The two ways to read a success. */
export interface AssemblyChoice {
  readonly plain: () => Assembly;
  readonly stream: () => Assembly;
  /** Whether the header promises JSON; only decides what a leading bracket means. */
  readonly saysJson: boolean;
}

/**
 * Looks at the first byte that is no blank before it decides how to read a success:
 * providers send JSON, or a page, where a stream was asked for, whatever the content type says.
 */
export class SniffingAssembly implements Assembly {
  private chosen: Assembly | undefined;
  private readonly blanks: Buffer[] = [];
  private blankBytes = 0;

  constructor(
    private readonly output: AssemblyOutput,
    private readonly choice: AssemblyChoice,
  ) {}

  get pendingBytes(): number {
    return this.blankBytes + (this.chosen?.pendingBytes ?? 0);
  }

  push(chunk: Buffer): void {
    if (this.chosen) {
      this.chosen.push(chunk);
      return;
    }
    const first = firstByte(chunk);
    if (first === undefined && this.blankBytes < MAX_BLANK_BYTES) {
      this.blanks.push(chunk);
      this.blankBytes += chunk.length;
      return;
    }
    if (first === LESS_THAN) this.output.fault({ kind: 'html' });
    else this.start(this.isPlain(first) ? this.choice.plain() : this.choice.stream(), chunk);
  }

  end(): void {
    if (this.chosen) this.chosen.end();
    else this.output.fault({ kind: 'empty' });
  }

  cut(cause?: unknown): void {
    if (this.chosen) this.chosen.cut(cause);
    else this.output.fault({ kind: 'cut', cause });
  }

  private start(chosen: Assembly, chunk: Buffer): void {
    this.chosen = chosen;
    this.blankBytes = 0;
    for (const held of this.blanks.splice(0)) chosen.push(held);
    chosen.push(chunk);
  }

  private isPlain(first: number | undefined): boolean {
    return first === BRACE || (first === BRACKET && this.choice.saysJson);
  }
}

/** The byte order mark may be split over reads, so its bytes count as blanks one by one. */
function firstByte(chunk: Buffer): number | undefined {
  return chunk.find((byte) => byte > 0x20 && !BOM.includes(byte));
}
