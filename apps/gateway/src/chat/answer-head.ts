import type { QuotaView } from '@weir/limiter';
import type { AnswerHead } from '../delivery/outgoing.js';
import type { ChatCall } from './chat-call.js';
import type { Granted } from './granted.js';
import { quotaHeaders } from './quota-headers.js';

/** Response headers of a provider that help a caller and promise nothing of ours. */
const FORWARDED = [
  'openai-processing-ms',
  'openai-version',
  'x-sim-received-at',
  'x-sim-text-sha256',
] as const;

/** What the caller is told beside the answer: how long it waited, how often it was tried, whose quota it used. */
export function answerHead(
  call: ChatCall,
  { permit, answer, attempt }: Granted,
  quota: QuotaView,
): AnswerHead {
  const headers = quotaHeaders(quota);
  headers['x-weir-wait-ms'] = String(Math.max(0, Math.round(permit.grantedAt - call.arrivedAt)));
  headers['x-weir-attempts'] = String(attempt);
  headers['x-weir-account'] = permit.target.account;
  for (const name of FORWARDED) {
    const value = answer.headers[name];
    if (value !== undefined) headers[name] = value;
  }
  return {
    kind: 'head',
    status: answer.status,
    contentType: answer.contentType,
    contentLength: call.request.stream ? undefined : answer.reading.bytes,
    headers,
    source: answer.reading,
  };
}
