import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { sleep, type Timers } from '@weir/kernel';
import type { HeaderMap } from '../answer/answer.js';
import type { Fault } from '../provider/faults.js';

/** Where an answer goes. Every promise rejects with the reason of `gone` once the caller is not there any more. */
export interface Sink {
  /** Aborted when the connection ended before the answer did, whoever ended it. */
  readonly gone: AbortSignal;
  /** @param now whether the headers go out at once, or with the first bytes */
  open(status: number, headers: HeaderMap, now: boolean): Promise<void>;
  /** Resolves when the caller has taken enough to be sent more. */
  write(bytes: string | Buffer): Promise<void>;
  /** Resolves when the last byte was handed to the system. */
  end(): Promise<void>;
}

/** The connection is no more: the caller left, or a script cut it. */
export class ConnectionGone extends Error {
  override readonly name = 'ConnectionGone';
}

/** A sink over Node's response, with two ways to break it. */
export class ResponseSink implements Sink {
  private readonly controller = new AbortController();
  readonly gone = this.controller.signal;

  constructor(private readonly response: ServerResponse) {
    if (response.destroyed) this.lose();
    response.once('close', () => {
      if (!response.writableFinished) this.lose();
    });
    // A caller that leaves while we write shows as an error too; `close` follows and says all.
    response.on('error', () => undefined);
  }

  async open(status: number, headers: HeaderMap, now: boolean): Promise<void> {
    this.gone.throwIfAborted();
    this.response.writeHead(status, headers);
    if (now) this.response.flushHeaders();
  }

  async write(bytes: string | Buffer): Promise<void> {
    this.gone.throwIfAborted();
    if (bytes.length > 0 && !this.response.write(bytes))
      await once(this.response, 'drain', { signal: this.gone });
  }

  async end(): Promise<void> {
    this.gone.throwIfAborted();
    const finished = once(this.response, 'finish', { signal: this.gone });
    this.response.end();
    await finished;
  }

  /** Sends what was written, then closes in the middle of the body. */
  cut(): never {
    this.response.flushHeaders();
    this.response.socket?.destroySoon();
    throw this.lose();
  }

  /** Closes with a reset. */
  reset(): never {
    this.response.socket?.resetAndDestroy();
    throw this.lose();
  }

  private lose(): ConnectionGone {
    const reason = new ConnectionGone('The connection ended before the answer did.');
    this.controller.abort(reason);
    return reason;
  }
}

/** Long enough for the headers to be read before the reset overtakes them. */
const BEFORE_RESET_MS = 20;

/** How many slices a second a drip has, where there are bytes enough. */
const DRIPS_PER_SECOND = 20;

/** The response, with those faults of a script that concern bytes and connections. */
export function openSink(response: ServerResponse, timers: Timers, fault: Fault | undefined): Sink {
  const sink = new ResponseSink(response);
  const cutting = fault?.cutAtByte === undefined ? sink : cutAt(sink, fault.cutAtByte);
  const resetting = fault?.resetAfterHeaders ? resetAfterHeaders(sink, timers) : cutting;
  const rate = fault?.dripBytesPerSecond;
  return rate === undefined ? resetting : dripping(resetting, timers, rate);
}

function cutAt(sink: ResponseSink, limit: number): Sink {
  let left = limit;
  return {
    gone: sink.gone,
    open: (status, headers) => sink.open(status, headers, true),
    end: () => sink.end(),
    write: async (bytes) => {
      const whole = Buffer.from(bytes);
      await sink.write(whole.subarray(0, left));
      left -= whole.length;
      if (left < 0) sink.cut();
    },
  };
}

function resetAfterHeaders(sink: ResponseSink, timers: Timers): Sink {
  return {
    gone: sink.gone,
    write: (bytes) => sink.write(bytes),
    end: () => sink.end(),
    open: async (status, headers) => {
      await sink.open(status, headers, true);
      await sleep(BEFORE_RESET_MS, timers, sink.gone);
      sink.reset();
    },
  };
}

function dripping(sink: Sink, timers: Timers, bytesPerSecond: number): Sink {
  const size = Math.max(1, Math.floor(bytesPerSecond / DRIPS_PER_SECOND));
  return {
    gone: sink.gone,
    open: (status, headers, now) => sink.open(status, headers, now),
    end: () => sink.end(),
    write: async (bytes) => {
      const whole = Buffer.from(bytes);
      for (let at = 0; at < whole.length; at += size) {
        const drop = whole.subarray(at, at + size);
        await sleep((drop.length / bytesPerSecond) * 1000, timers, sink.gone);
        await sink.write(drop);
      }
    },
  };
}
