import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { AnswerWriter } from './answer-writer.js';

/** A response as far as the writer uses it. */
class FakeResponse extends Writable {
  readonly pieces: string[] = [];

  writeHead(): this {
    return this;
  }

  override _write(piece: Buffer, _encoding: string, done: () => void): void {
    this.pieces.push(piece.toString());
    done();
  }
}

const HEAD = {
  kind: 'head',
  status: 200,
  contentType: 'text/event-stream',
  contentLength: undefined,
  headers: {},
  source: { bufferedBytes: 5 },
} as const;

function setUp() {
  const response = new FakeResponse({ highWaterMark: 64 * 1024 });
  const writer = new AnswerWriter(response as unknown as ServerResponse);
  void writer.start(HEAD, 'r1');
  const write = (text: string) => writer.write(Buffer.from(text));
  return { response, writer, write };
}

const nextTurn = () => new Promise(setImmediate);

describe('AnswerWriter', () => {
  it('writes once what comes in one go, microtasks included', async () => {
    const { response, write } = setUp();
    void write('a');
    await Promise.resolve();
    void write('b');
    await nextTurn();
    void write('c');
    await nextTurn();
    expect(response.pieces).toEqual(['ab', 'c']);
  });

  it('counts what it has gathered as buffered, and gathers no more than 16 KiB', () => {
    const { response, writer, write } = setUp();
    void write('x'.repeat(16 * 1024));
    expect(response.pieces).toEqual([]);
    expect(writer.bufferedBytes).toBe(16 * 1024 + 5);
    void write('y');
    expect(response.pieces).toEqual([`${'x'.repeat(16 * 1024)}y`]);
  });

  it('loses nothing at the end, and writes nothing after it', async () => {
    const { response, writer, write } = setUp();
    void write('a');
    void write('b');
    writer.end();
    void write('c');
    await nextTurn();
    expect(response.pieces).toEqual(['ab']);
    expect(response.writableFinished).toBe(true);
  });

  it('holds its source while the socket is full', () => {
    const { response, write } = setUp();
    response.cork();
    expect(write('x'.repeat(80 * 1024))).toBeInstanceOf(Promise);
  });
});
