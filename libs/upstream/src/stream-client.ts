import type { CallIdentity, Milliseconds, Target } from '@weir/kernel';

/** The one way to a provider. An adapter owns connections, timeouts and the classification of what went wrong. */
export interface StreamClient {
  /**
   * Sends one attempt and holds the head of its answer until the first visible frame, an error or 64 KiB of
   * invisible head, so that a 429 hidden in a 200 is still an error here. A plain (non-stream) answer is held whole.
   * @param signal aborts the connection at once, before and after the head
   * @throws GatewayError, classified; `sent` tells whether the request may have reached the provider
   */
  open(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamAnswer>;
  /** Closes every connection; running streams are cut. */
  close(): Promise<void>;
}

/** Injection token of the port. */
export const StreamClient = Symbol('StreamClient');

/** One attempt, ready to send. */
export interface UpstreamRequest {
  readonly identity: CallIdentity;
  readonly target: Target;
  /** 1 for the first attempt of a request. */
  readonly attempt: number;
  /** Below the account's base URL, such as `/chat/completions`. */
  readonly path: string;
  readonly body: Uint8Array;
  /** Whether the caller asked for a stream. */
  readonly stream: boolean;
  /** True where the gateway added `stream_options.include_usage`: the usage-only chunk is then not forwarded. */
  readonly usageInjected: boolean;
  /**
   * True where nobody looks into single frames: what came together is then handed out as one, which costs a fraction of
   * it. Default false.
   */
  readonly joinFrames?: boolean;
  /** Set where it asks for an answer again that broke after its caller had some of it. For telemetry only. */
  readonly resume?: Resume;
  /** Called once, when the first byte is about to leave. What it throws ends the attempt, and nothing leaves. */
  readonly onSent?: () => void;
  /**
   * Called once where the head was good, when the reader is done with the frames: with nothing where it had all of them,
   * with what it is told where they broke or the signal aborted, with `client_disconnected` where it left.
   */
  readonly onOver?: (thrown?: Error) => void;
}

/** Which part of a broken answer an attempt is to make good. */
export interface Resume {
  /** 1 for the first attempt after a break of the answer. */
  readonly number: number;
  /** Visible chunks that the caller has. */
  readonly fromChunk: number;
}

/** An answer whose head was good. Its frames must be read to the end, or the signal aborted. */
export interface UpstreamAnswer {
  readonly status: number;
  readonly contentType: string;
  /** Lower-cased response headers, for the limiter's learner and the caller. */
  readonly headers: Readonly<Record<string, string>>;
  /** The frames as they came, byte for byte. Throws a GatewayError (`committed`) where the stream breaks. */
  readonly frames: AsyncIterable<Frame>;
  /** What was read on the way; complete once `frames` ended, and meaningful before that. */
  readonly reading: StreamReading;
}

/** A piece of the answer: one SSE event with its blank line (several where `joinFrames` is set), or a plain body. */
export interface Frame {
  readonly bytes: Uint8Array;
  /** False for comments, role-only chunks and other frames that show a person nothing. */
  readonly visible: boolean;
}

/** What is known of an answer, so far. */
export interface StreamReading {
  readonly frames: number;
  readonly bytes: number;
  /** Bytes of visible text and tool arguments, for an estimate where usage is missing. */
  readonly visibleBytes: number;
  /** Provider's own numbers, last non-null block; undefined where none came. */
  readonly usage: ReportedUsage | undefined;
  readonly finishReason: string | undefined;
  readonly responseId: string | undefined;
  readonly responseModel: string | undefined;
  /** When the first byte of the body, and the first visible frame, came; on the clock of the adapter. */
  readonly firstByteAt: Milliseconds | undefined;
  readonly firstVisibleAt: Milliseconds | undefined;
  /** Bytes held in user space for this answer and not yet taken: bounded, whatever the caller's pace. */
  readonly bufferedBytes: number;
}

/** A provider's usage block. */
export interface ReportedUsage {
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly totalTokens: number | undefined;
  readonly cachedInputTokens: number | undefined;
}
