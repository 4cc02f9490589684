import type { Frame } from '@weir/upstream';

/**
 * The head of an answer: what becomes status line and headers. Always the first thing on its way out; a head that
 * comes when one has left already becomes a comment.
 */
export interface AnswerHead {
  readonly kind: 'head';
  readonly status: number;
  readonly contentType: string;
  /** Set for plain answers, which are whole when they leave. */
  readonly contentLength: number | undefined;
  /** What the caller is told beside the answer, lower-cased: `x-weir-attempts` and the like. */
  readonly headers: Readonly<Record<string, string>>;
  /** True where the caller only waits on: nothing is known yet, and the head that tells will be a comment. */
  readonly early?: true;
  /** Bytes that wait behind this answer in user space. */
  readonly source: { readonly bufferedBytes: number };
}

/** What a pipeline yields: a head, then frames, and another head where another attempt goes on with them. */
export type Outgoing = AnswerHead | Frame;

/** Tells the head from the frames. */
export function isHead(outgoing: Outgoing): outgoing is AnswerHead {
  return 'kind' in outgoing;
}
