import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError, type Milliseconds, type Priority } from '@weir/kernel';

/** What a caller says beside the body. */
export interface CallHeaders {
  /** `x-conversation-id`; requests that share one are answered in the order they came. */
  readonly conversation: string | undefined;
  /** `x-prompt-template`; `none` where the caller names none. */
  readonly template: string;
  /** `x-weir-priority`; default `normal`. */
  readonly priority: Priority;
  /** `x-weir-max-wait-ms`; only ever lowers the configured `queue.maxWaitMs`. */
  readonly maxWaitMs: Milliseconds | undefined;
}

const TEMPLATE = /^[A-Za-z0-9._-]{1,64}$/;
const CONVERSATION = /^[\x21-\x7e]{1,256}$/;
const WHOLE_NUMBER = /^\d{1,10}$/;

/** @throws GatewayError `invalid_request`, its `param` the header at fault */
export function readCallHeaders(headers: IncomingHttpHeaders): CallHeaders {
  const conversation = single(headers, 'x-conversation-id');
  if (conversation !== undefined && !CONVERSATION.test(conversation)) {
    throw refuse('x-conversation-id', '1 to 256 printable ASCII characters without spaces');
  }
  const template = single(headers, 'x-prompt-template');
  if (template !== undefined && !TEMPLATE.test(template)) {
    throw refuse('x-prompt-template', '1 to 64 characters of A-Z, a-z, 0-9, ".", "_" and "-"');
  }
  const maxWait = single(headers, 'x-weir-max-wait-ms');
  if (maxWait !== undefined && !WHOLE_NUMBER.test(maxWait)) {
    throw refuse('x-weir-max-wait-ms', 'a whole number of milliseconds, 0 or more');
  }
  return {
    conversation,
    template: template ?? 'none',
    priority: readPriority(single(headers, 'x-weir-priority')),
    maxWaitMs: maxWait === undefined ? undefined : Number(maxWait),
  };
}

/** The template that a request names, for counting one whose headers nobody has read yet: `none` where the name is not valid. */
export function templateNamed({ 'x-prompt-template': named }: IncomingHttpHeaders): string {
  return typeof named === 'string' && TEMPLATE.test(named) ? named : 'none';
}

function readPriority(value: string | undefined): Priority {
  if (value === undefined) return 'normal';
  if (value === 'high' || value === 'normal' || value === 'low') return value;
  throw refuse('x-weir-priority', 'high, normal or low');
}

function single(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  if (Array.isArray(value)) throw refuse(name, 'sent once');
  return value;
}

function refuse(header: string, allowed: string): GatewayError {
  return new GatewayError('invalid_request', `The header ${header} must be ${allowed}.`, { param: header });
}
