import { createServer, type AddressInfo, type Socket } from 'node:net';
import { BURST_WRITES, PLAIN_ANSWER, SINGLE_WRITES, STREAM_HEAD } from './answers.js';
import { contentLength, headEnd } from './http-bytes.js';
import { PACE_MS } from './loads.js';

/** Streams of one pace are spread over this many ticks, so that the provider does not write all of them at once. */
const TICKS = 10;
const NOTHING = Buffer.alloc(0);

/** An OpenAI-shaped provider that does as little as it can, on bare sockets: it must be faster than whoever is measured. */
export function startFakeProvider(): Promise<string> {
  const pacer = new Pacer();
  const server = createServer({ noDelay: true }, (socket) => {
    new ProviderConnection(socket, pacer);
  });
  // Whoever wants it keeps the process alive.
  server.unref();
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    });
  });
}

class ProviderConnection {
  private unread: Buffer = NOTHING;

  constructor(
    private readonly socket: Socket,
    private readonly pacer: Pacer,
  ) {
    socket.on('data', (bytes: Buffer) => {
      this.read(bytes);
    });
    socket.on('error', () => socket.destroy());
  }

  private read(bytes: Buffer): void {
    this.unread = this.unread.length === 0 ? bytes : Buffer.concat([this.unread, bytes]);
    for (;;) {
      const start = headEnd(this.unread);
      if (start === -1) return;
      const end = start + (contentLength(this.unread.toString('latin1', 0, start)) ?? 0);
      if (this.unread.length < end) return;
      this.answer(this.unread.subarray(start, end));
      this.unread = this.unread.subarray(end);
    }
  }

  private answer(body: Buffer): void {
    if (body.includes('"model":"paced"')) {
      this.socket.write(STREAM_HEAD);
      this.pacer.add(this.socket);
    } else if (body.includes('"model":"burst"')) {
      this.socket.write(STREAM_HEAD);
      this.burst(0);
    } else this.socket.write(PLAIN_ANSWER);
  }

  /** One write per turn of the event loop, so that they do not become one. */
  private burst(at: number): void {
    const bytes = BURST_WRITES[at];
    if (bytes === undefined || this.socket.destroyed) return;
    this.socket.write(bytes);
    setImmediate(() => {
      this.burst(at + 1);
    });
  }
}

interface PacedStream {
  readonly socket: Socket;
  at: number;
}

/** Writes one chunk of every paced stream each PACE_MS, with one timer for all of them. */
class Pacer {
  private readonly groups: PacedStream[][] = Array.from({ length: TICKS }, () => []);
  private tick = 0;
  private newest = 0;

  constructor() {
    setInterval(() => {
      const group = this.groups[this.tick % TICKS] ?? [];
      this.groups[this.tick % TICKS] = group.filter((stream) => goesOn(stream));
      this.tick += 1;
    }, PACE_MS / TICKS).unref();
  }

  add(socket: Socket): void {
    this.newest += 1;
    this.groups[this.newest % TICKS]?.push({ socket, at: 0 });
  }
}

function goesOn(stream: PacedStream): boolean {
  const bytes = SINGLE_WRITES[stream.at];
  if (bytes === undefined || stream.socket.destroyed) return false;
  stream.socket.write(bytes);
  stream.at += 1;
  return stream.at < SINGLE_WRITES.length;
}
