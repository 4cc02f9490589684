import type { QuotaView } from '@weir/limiter';
import type { AnswerHead } from '../delivery/outgoing.js';
import type { ChatCall } from './chat-call.js';
import type { Granted } from './granted.js';
import { quotaHeaders } from './quota-headers.js';

/** Response headers of a provider that help a caller and promise nothing of ours. */
const FORWARDED = ['openai-processing-ms', 'openai-version', 'x-sim-text-sha256'] as const;

/** What the caller is told beside the answer: how long it waited, how often it was tried, whose quota it used. */
export function answerHead(
  call: ChatCall,
  { permit, answer, attempt }: Granted,
  quota: QuotaView,
): AnswerHead {
  const forwarded = FORWARDED.flatMap((name) => {
    const value = answer.headers[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    kind: 'head',
    status: answer.status,
    contentType: answer.contentType,
    contentLength: call.request.stream ? undefined : answer.reading.bytes,
    headers: {
      ...Object.fromEntries(forwarded),
      ...quotaHeaders(quota),
      'x-weir-wait-ms': String(Math.max(0, Math.round(permit.grantedAt - call.arrivedAt))),
      'x-weir-attempts': String(attempt),
      'x-weir-account': permit.target.account,
    },
    source: answer.reading,
  };
}
