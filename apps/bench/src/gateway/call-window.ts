import { CallerConnection } from './caller-connection.js';
import type { Load } from './loads.js';

/** Where calls go, and with which headers besides those of HTTP. */
export interface Door {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What callers were given in one window. */
export interface WindowCount {
  readonly answers: number;
  readonly bad: number;
  /** From the first call to the last answer. */
  readonly seconds: number;
}

/** Calls as fast as answers come until the time is over; every call that was begun is waited for. */
export function callFor(door: Door, load: Load, seconds: number): Promise<WindowCount> {
  const url = new URL('/v1/chat/completions', door.url);
  const request = requestOf(url, door, load.body);
  const began = performance.now();
  let answers = 0;
  let bad = 0;
  let open = load.connections;
  return new Promise((resolve) => {
    const onAnswer = (isGood: boolean): boolean => {
      if (isGood) answers += 1;
      else bad += 1;
      const elapsed = (performance.now() - began) / 1000;
      if (isGood && elapsed < seconds) return true;
      open -= 1;
      if (open === 0) resolve({ answers, bad, seconds: elapsed });
      return false;
    };
    for (let number = 0; number < load.connections; number += 1)
      new CallerConnection(url, request, load.leastBytes, onAnswer);
  });
}

function requestOf(url: URL, { headers }: Door, body: string): Buffer {
  const lines = Object.entries({
    ...{ host: url.host, 'content-type': 'application/json', ...headers },
    'content-length': String(Buffer.byteLength(body)),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`POST ${url.pathname} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
}
