import type { Milliseconds, Tokens } from '@weir/kernel';

/** Headers to send; names in lower case. */
export type HeaderMap = Readonly<Record<string, string>>;

/** A part of a body that is sent whole: one SSE event, or all of a plain answer. */
export interface Frame {
  readonly bytes: string;
  /** Tokens of output that it carries. */
  readonly tokens: Tokens;
  /** A pause before it that the pace of speaking knows nothing of. */
  readonly stallMs?: Milliseconds;
  /** The answer breaks off here: it must not count as completed. */
  readonly breaksOff?: true;
}

/** What goes out for one call. */
export interface Answer {
  readonly status: number;
  readonly headers: HeaderMap;
  /** Whether the headers go out before the first frame is there. */
  readonly streams: boolean;
  /** Made lazily, once. */
  readonly frames: Iterable<Frame>;
}

/** An answer that is there at once, as JSON. */
export function jsonAnswer(status: number, body: unknown, headers: HeaderMap = {}): Answer {
  return textAnswer(status, JSON.stringify(body), { 'content-type': 'application/json', ...headers });
}

/** An answer that is there at once. */
export function textAnswer(status: number, bytes: string, headers: HeaderMap): Answer {
  return plainAnswer(status, { bytes, tokens: 0 }, headers);
}

/** An answer of one frame; its length is known, so a body that is cut shows it. */
export function plainAnswer(status: number, frame: Frame, headers: HeaderMap): Answer {
  const length = { 'content-length': String(Buffer.byteLength(frame.bytes)) };
  return { status, headers: { ...headers, ...length }, streams: false, frames: [frame] };
}
