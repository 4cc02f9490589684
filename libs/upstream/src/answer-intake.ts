import {
  abortReason,
  GatewayError,
  toGatewayError,
  type Clock,
  type Milliseconds,
  type TimeoutPhase,
  type Timers,
} from '@weir/kernel';
import type { Assembly, AssemblyOutput } from './assembly.js';
import { PlainAssembly, RefusalAssembly } from './body-assembly.js';
import { connectionError, failureOf, timeoutError } from './failures.js';
import type { Fault } from './fault.js';
import { FrameQueue, HIGH_WATER_BYTES } from './frame-queue.js';
import type { ProviderProfile } from './profiles/profile.js';
import type { Headers } from './refusal.js';
import { SniffingAssembly } from './sniffing-assembly.js';
import { StreamAssembly } from './stream-assembly.js';
import type { Frame, UpstreamAnswer, UpstreamRequest } from './stream-client.js';
import { StreamTally } from './stream-tally.js';
import { Watchdog } from './watchdog.js';

/** How long each wait of an attempt may last, in milliseconds. */
export interface UpstreamTimeouts {
  readonly connectMs: Milliseconds;
  readonly headersMs: Milliseconds;
  /** From the headers to the first visible frame; for a plain answer the longest silence inside it. */
  readonly firstFrameMs: Milliseconds;
  /** Silence after that. Keep-alive comments are silence; a reader who does not read is not. */
  readonly idleMs: Milliseconds;
  readonly totalMs: Milliseconds;
}

/** The connection, as the intake steers it. */
export interface Transport {
  pause(): void;
  resume(): void;
  abort(reason: Error): void;
}

/** What an attempt needs besides its bytes. */
export interface IntakeContext {
  readonly request: UpstreamRequest;
  readonly profile: ProviderProfile;
  readonly timeouts: UpstreamTimeouts;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly signal: AbortSignal;
}

/** `held`: the head is not good yet. `open`: frames went out, so every error is final. */
type Stage = 'connecting' | 'waiting' | 'held' | 'open' | 'over';

interface Head {
  readonly status: number;
  readonly headers: Headers;
}

/** Why a connection is given up. Made once: nobody reads their stack, and taking one costs as much as a small answer. */
const WHOLE = new Error('the answer is whole');
const READER_LEFT = new Error('the reader left');

/** After the provider's own end mark the connection gets this long to close the body by itself. */
const LINGER_MS = 1000;
/** A refusal is judged by its status and headers if its body takes longer than this. */
const REFUSAL_MS = 5000;

/**
 * One attempt's answer, from the connection to the last frame, without knowing the HTTP client.
 * It holds the head, keeps the waits, bounds memory, and ends exactly once.
 */
export class AnswerIntake implements AssemblyOutput {
  /** Settles when the head is good, or the attempt failed before it was. */
  readonly answer: Promise<UpstreamAnswer>;
  private readonly settled = Promise.withResolvers<UpstreamAnswer>();
  private readonly queue: FrameQueue;
  private readonly tally: StreamTally;
  private readonly watchdog: Watchdog;
  private stage: Stage = 'connecting';
  private transport: Transport | undefined;
  private head: Head = { status: 0, headers: {} };
  private assembly: Assembly | undefined;
  private lingering = false;
  private isReleased = false;

  constructor(private readonly context: IntakeContext) {
    this.answer = this.settled.promise;
    this.queue = new FrameQueue(
      {
        pause: () => {
          this.watchdog.pause();
          this.transport?.pause();
        },
        resume: () => {
          if (this.stage === 'over') return;
          this.watchdog.resume();
          this.transport?.resume();
        },
        abandoned: () => {
          this.close(READER_LEFT);
        },
        over: (thrown) => {
          this.done();
          if (this.isReleased) context.request.onOver?.(thrown);
        },
      },
      context.request.joinFrames,
    );
    const { clock, timers, timeouts, signal } = context;
    this.tally = new StreamTally(clock, () => this.queue.bytes + (this.assembly?.pendingBytes ?? 0));
    this.watchdog = new Watchdog(clock, timers, timeouts.totalMs, (phase) => {
      this.expired(phase);
    });
    this.watchdog.expect('connect', timeouts.connectMs);
    signal.addEventListener('abort', this.onAbort, { once: true });
  }

  /**
   * A connection is there and the request is about to be written.
   * @throws what forbids that; the connection stays good
   */
  connected(transport: Transport): void {
    if (this.stage === 'over') {
      transport.abort(new Error('the attempt is over'));
      return;
    }
    try {
      this.context.request.onSent?.();
    } catch (forbidden) {
      this.fail(toGatewayError(forbidden));
      throw forbidden;
    }
    this.stage = 'waiting';
    this.transport = transport;
    this.watchdog.expect('headers', this.context.timeouts.headersMs);
  }

  /** The status line and the headers came. */
  responded(status: number, headers: Headers): void {
    if (this.stage === 'over') return;
    this.stage = 'held';
    this.head = { status, headers };
    const isSuccess = status >= 200 && status < 300;
    this.assembly = isSuccess ? this.successAssembly(headers) : new RefusalAssembly(this);
    const firstFrameMs = this.context.timeouts.firstFrameMs;
    this.watchdog.expect('first_frame', isSuccess ? firstFrameMs : Math.min(firstFrameMs, REFUSAL_MS));
  }

  /** A piece of the body came; its memory is ours now. */
  received(chunk: Buffer): void {
    if (this.stage === 'over') return;
    this.tally.received(chunk.length);
    try {
      this.assembly?.push(chunk);
    } catch (thrown) {
      this.fail(this.unreadable(toGatewayError(thrown)));
    }
  }

  /** The body ended in good order: there is nothing left to abort. */
  ended(): void {
    this.transport = undefined;
    if (this.stage !== 'over') this.assembly?.end();
  }

  /** The connection broke, or never came about. */
  broke(cause: unknown): void {
    if (this.stage === 'over') return;
    if (this.assembly) this.assembly.cut(cause);
    else this.fail(connectionError(this.stage !== 'connecting', cause));
  }

  /** A wait ran out. A refusal is judged by what came of it and a whole answer is good, also where the rest keeps us waiting. */
  expired(phase: TimeoutPhase): void {
    if (this.stage === 'over') return;
    const error = timeoutError(phase, {
      sent: this.stage !== 'connecting',
      committed: this.stage === 'open',
    });
    if (this.assembly) this.assembly.cut(error);
    else this.fail(error);
  }

  frame(frame: Frame): void {
    if (this.stage === 'over') return;
    this.tally.forwarded(frame);
    this.queue.push(frame);
    if (this.stage === 'held' && (frame.visible || this.queue.bytes >= HIGH_WATER_BYTES)) this.release();
  }

  /** Until the first visible frame of a stream nothing else counts as life. */
  alive(): void {
    if (this.stage === 'open' || !this.context.request.stream) this.watchdog.touch();
  }

  finished(isLast: boolean): void {
    if (this.stage === 'held') this.release();
    if (!isLast || this.lingering) return;
    this.lingering = true;
    this.watchdog.expect('idle', Math.min(LINGER_MS, this.context.timeouts.idleMs));
  }

  complete(): void {
    if (this.stage === 'over') return;
    if (this.stage === 'held') this.release();
    this.close(WHOLE);
    this.queue.end();
  }

  fault(fault: Fault): void {
    if (this.stage === 'over') return;
    if (fault.kind === 'cut' && fault.cause instanceof GatewayError) {
      this.fail(fault.cause);
      return;
    }
    const { profile, clock } = this.context;
    const { status, headers } = this.head;
    const now = clock.epochNow();
    this.fail(
      failureOf(fault, { profile, httpStatus: status, headers, committed: this.stage === 'open', now }),
    );
  }

  private successAssembly(headers: Headers): Assembly {
    const { stream, usageInjected } = this.context.request;
    const plain = (): Assembly => new PlainAssembly(this, this.tally, stream);
    if (!stream) return plain();
    return new SniffingAssembly(this, {
      plain,
      stream: () => new StreamAssembly(this, this.tally, usageInjected),
      saysJson: (headers['content-type'] ?? '').includes('json'),
    });
  }

  private release(): void {
    const { status, headers } = this.head;
    this.stage = 'open';
    this.isReleased = true;
    this.watchdog.expect('idle', this.context.timeouts.idleMs);
    this.settled.resolve({
      status,
      contentType: this.contentType(),
      headers,
      frames: this.queue,
      reading: this.tally,
    });
  }

  /** What the frames are, not what the header says of them: a stream that was asked for is always delivered as one. */
  private contentType(): string {
    const said = this.head.headers['content-type'] ?? '';
    if (!this.context.request.stream) return said === '' ? 'application/json' : said;
    return said.includes('event-stream') ? said : 'text/event-stream';
  }

  private unreadable(error: GatewayError): GatewayError {
    return new GatewayError(error.code, error.message, {
      origin: error.origin,
      failure: 'fatal',
      upstreamStatus: this.head.status,
      sent: true,
      committed: this.stage === 'open',
      cause: error,
    });
  }

  private fail(error: GatewayError): void {
    const wasOpen = this.stage === 'open';
    this.close(error);
    if (wasOpen) this.queue.fail(error);
    else {
      this.done();
      this.settled.reject(error);
    }
  }

  private readonly onAbort = (): void => {
    const reason = abortReason(this.context.signal);
    if (this.stage !== 'over') {
      this.close(reason);
      this.settled.reject(reason);
    }
    this.queue.abort(reason);
  };

  /** Leaves no timer and no open request behind. A request that ended in order keeps its connection. */
  private close(reason: Error): void {
    this.stage = 'over';
    this.watchdog.stop();
    this.transport?.abort(reason);
  }

  /** Nobody waits for anything any more: what reads too slowly can be aborted up to its last frame. */
  private done(): void {
    this.context.signal.removeEventListener('abort', this.onAbort);
  }
}
