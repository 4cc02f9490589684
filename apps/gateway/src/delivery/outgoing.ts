import type { Frame } from '@weir/upstream';

/** The head of an answer: what becomes status line and headers. Always the first thing on its way out. */
export interface AnswerHead {
  readonly kind: 'head';
  readonly status: number;
  readonly contentType: string;
  /** Set for plain answers, which are whole when they leave. */
  readonly contentLength: number | undefined;
  /** What the caller is told beside the answer, lower-cased: `x-weir-attempts` and the like. */
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes that wait behind this answer in user space. */
  readonly source: { readonly bufferedBytes: number };
}

/** What a pipeline yields: one head, then frames. */
export type Outgoing = AnswerHead | Frame;

/** Tells the head from the frames. */
export function isHead(outgoing: Outgoing): outgoing is AnswerHead {
  return 'kind' in outgoing;
}
