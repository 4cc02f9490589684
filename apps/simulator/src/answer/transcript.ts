import type { Tokens } from '@weir/kernel';

/** A word with its blank has 4 bytes of UTF-8. In prompts, 4 bytes are a token, so that counts can be checked by hand. */
export const BYTES_PER_WORD = 4;

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
const { imul } = Math;

/** How a transcript is read aloud. */
export interface Reading {
  /** What was said before. If the text begins with it, the reading goes on from there; else it starts anew. */
  readonly prefix: string;
  readonly maxTokens: Tokens;
}

/** How many words are compared at once with what was said before. */
const STRIDE = 256;

/** A text that is a function of its seed: any word of it can be told without the others. */
export class Transcript {
  private readonly words: number;

  /** @param wordsPerToken usually 1; more make tokens so large that few of them fill a long stream */
  constructor(
    private readonly seed: number,
    private readonly tokens: Tokens,
    private readonly wordsPerToken = 1,
  ) {
    this.words = tokens * wordsPerToken;
  }

  /** How many tokens a reading has. A token of which only the rest is left to say counts as one. */
  length({ prefix, maxTokens }: Reading): Tokens {
    return Math.min(maxTokens, this.tokens - this.tokenOf(this.resume(prefix).word));
  }

  /** Reads token by token, lazily: a text of any length costs no more memory than one token. */
  *read(reading: Reading): Generator<string> {
    const { word, skip } = this.resume(reading.prefix);
    const first = this.tokenOf(word);
    const end = first + this.length(reading);
    for (let token = first; token < end; token++) {
      const start = Math.max(word, token * this.wordsPerToken);
      const text = this.text(start, (token + 1) * this.wordsPerToken);
      yield token === first ? text.slice(skip) : text;
    }
  }

  private tokenOf(word: number): number {
    return Math.floor(word / this.wordsPerToken);
  }

  /** The words from `start` up to `end`, each with its blank, and a full stop at the very end. */
  private text(start: number, end: number): string {
    const codes = new Uint32Array(end - start);
    for (let word = start; word < end; word++) codes[word - start] = CODES[this.wordAt(word)] ?? 0;
    const bytes = Buffer.from(codes.buffer);
    if (end === this.words) bytes[bytes.length - 1] = FULL_STOP;
    return bytes.toString();
  }

  private wordAt(index: number): number {
    let mixed = imul(this.seed ^ imul(index + 1, 0x9e3779b1), 0x85ebca6b);
    mixed = imul(mixed ^ (mixed >>> 15), 0xc2b2ae35);
    return (mixed >>> 20) % WORDS.length;
  }

  /** The word at which a reading goes on, and how many characters of it were said. */
  private resume(prefix: string): { readonly word: number; readonly skip: number } {
    let word = 0;
    let at = 0;
    for (const stride of [STRIDE, 1]) {
      while (at < prefix.length && word < this.words) {
        const end = Math.min(word + stride, this.words);
        const text = this.text(word, end);
        if (!prefix.startsWith(text, at)) break;
        word = end;
        at += text.length;
      }
    }
    const rest = prefix.slice(at);
    const begun = rest === '' || (word < this.words && this.text(word, word + 1).startsWith(rest));
    return begun ? { word, skip: rest.length } : { word: 0, skip: 0 };
  }
}

/** Tokens of a text in a prompt: its bytes by four, rounded up. */
export function countTokens(text: string): Tokens {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_WORD);
}
