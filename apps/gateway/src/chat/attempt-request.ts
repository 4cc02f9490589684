import type { Target } from '@weir/kernel';
import { rewriteRequest } from '@weir/protocol';
import type { UpstreamRequest } from '@weir/upstream';
import type { ChatCall } from './chat-call.js';

/** One attempt's request, without its `onSent`. */
export type AttemptRequest = Omit<UpstreamRequest, 'onSent'>;

/**
 * The caller's body for one target: the provider's model name, and a request for the usage chunk where the caller
 * did not ask and the provider takes it. Every other byte stays as it came.
 * @param asksForUsage whether the account's profile accepts `stream_options.include_usage`
 */
export function attemptRequest(
  call: ChatCall,
  target: Target,
  attempt: number,
  asksForUsage: boolean,
): AttemptRequest {
  const { request, identity, path, resume } = call;
  const usageInjected = request.stream && !request.includeUsage && asksForUsage;
  return {
    identity,
    target,
    attempt,
    path,
    body: rewriteRequest(request.bytes, { model: target.model, includeUsage: usageInjected }),
    stream: request.stream,
    usageInjected,
    ...(resume === undefined ? {} : { resume }),
  };
}
