import type { Tokens } from '@weir/kernel';

/** A token is 4 bytes of UTF-8, in prompts and answers alike, so that counts can be checked by hand. */
export const BYTES_PER_TOKEN = 4;

/** 64 words of 3 bytes, some of them not ASCII, so that nobody may cut text at any byte unpunished. */
const WORDS = [
  ...['air', 'arc', 'ash', 'bay', 'bee', 'bow', 'cap', 'cod', 'cup', 'dam', 'day', 'dew', 'ear', 'eel'],
  ...['elm', 'fen', 'fig', 'fog', 'gap', 'gum', 'hay', 'hen', 'hut', 'ice', 'ink', 'ivy', 'jar', 'joy'],
  ...['key', 'kit', 'lap', 'lid', 'log', 'map', 'mud', 'net', 'nut', 'oak', 'oar', 'owl', 'pan', 'pea'],
  ...['pie', 'ray', 'rim', 'rye', 'sea', 'sky', 'sun', 'tea', 'tin', 'tub', 'urn', 'vat', 'wax', 'web'],
  ...['yak', 'zoo', 'né', 'où', 'öl', 'él', '—', '∞'],
];

/** The words with their blanks as numbers of 4 bytes, so that much text is made at memory's speed. */
const CODES = new Uint32Array(new Uint8Array(Buffer.from(`${WORDS.join(' ')} `)).buffer);
const FULL_STOP = 0x2e;

/** A piece of text that is sent at once. */
export interface Piece {
  readonly text: string;
  readonly tokens: Tokens;
}

/** How a transcript is read aloud. */
export interface Reading {
  /** What was said before. If the text begins with it, the reading goes on from there; else it starts anew. */
  readonly prefix: string;
  readonly maxTokens: Tokens;
  readonly tokensPerPiece: Tokens;
}

/** A text that is a function of its seed: any token of it can be told without the others. */
export class Transcript {
  constructor(
    private readonly seed: number,
    readonly tokens: Tokens,
  ) {}

  /** The tokens from `start` up to `end`: words and blanks, and a full stop at the very end. */
  text(start: number, end: number): string {
    const codes = new Uint32Array(end - start);
    for (let index = start; index < end; index++) codes[index - start] = CODES[this.wordAt(index)] ?? 0;
    const bytes = Buffer.from(codes.buffer);
    if (end === this.tokens) bytes[bytes.length - 1] = FULL_STOP;
    return bytes.toString();
  }

  /** How many tokens a reading has. A token of which only the rest is left to say counts as one. */
  length(reading: Reading): Tokens {
    return Math.min(reading.maxTokens, this.tokens - this.resume(reading.prefix).index);
  }

  /** Reads lazily: a text of any length costs no more memory than one piece. */
  *read(reading: Reading): Generator<Piece> {
    const { index: start, skip } = this.resume(reading.prefix);
    const end = start + this.length(reading);
    for (let index = start; index < end;) {
      const tokens = Math.min(reading.tokensPerPiece, end - index);
      const text = this.text(index, index + tokens);
      yield { text: index === start ? text.slice(skip) : text, tokens };
      index += tokens;
    }
  }

  private wordAt(index: number): number {
    let mixed = Math.imul(this.seed ^ Math.imul(index + 1, 0x9e3779b1), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0xc2b2ae35);
    return (mixed >>> 20) % WORDS.length;
  }

  private resume(prefix: string): { readonly index: number; readonly skip: number } {
    let at = 0;
    for (let index = 0; at < prefix.length; index++) {
      const token = index < this.tokens ? this.text(index, index + 1) : '';
      const said = prefix.slice(at, at + token.length);
      if (token === '' || !token.startsWith(said)) return { index: 0, skip: 0 };
      if (said.length < token.length) return { index, skip: said.length };
      at += token.length;
      if (at === prefix.length) return { index: index + 1, skip: 0 };
    }
    return { index: 0, skip: 0 };
  }
}

/** Tokens of a text: its bytes by four, rounded up. */
export function countTokens(text: string): Tokens {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}
