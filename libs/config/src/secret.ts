import { inspect } from 'node:util';

/** A value that opens something. It prints as `…` wherever it strays: string, JSON, `console.log`, error. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself; call it only where the value leaves for the one it is meant for. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '…';
  }

  toJSON(): string {
    return '…';
  }

  [inspect.custom](): string {
    return '…';
  }
}
