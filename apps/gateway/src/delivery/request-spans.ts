import type { RequestSpan } from '@weir/telemetry';

/** Where a request's own span is found, by Node's request object. */
export interface RequestSpans {
  request(raw: object): RequestSpan;
}

/** Injection token of the port. */
export const RequestSpans = Symbol('RequestSpans');
