import type { SpanTree } from '@weir/testing';
import { IDENTITY } from './span-scene.js';

/** What stands on an attempt that came whole, as READING tells it. */
export const ANSWERED = {
  ...IDENTITY,
  'weir.attempt.number': 1,
  'weir.attempt.outcome': 'ok',
  'gen_ai.request.stream': true,
  'http.response.status_code': 200,
  'gen_ai.response.model': 'gemini-2.5-pro-002',
  'gen_ai.response.id': 'chatcmpl-1',
  'gen_ai.response.finish_reasons': ['stop'],
  'gen_ai.response.time_to_first_chunk': 0.02,
  'gen_ai.usage.input_tokens': 40,
  'gen_ai.usage.output_tokens': 20,
};

export function waited(
  at: readonly [number, number],
  nth = '',
  bound: Record<string, unknown> = {},
): SpanTree {
  return {
    span: `weir.queue.wait${nth}`,
    kind: 'internal',
    status: 'unset',
    at,
    attributes: { ...IDENTITY, 'weir.wait.result': 'granted', 'weir.queue.depth_at_entry': 0 },
    links: [],
    children: [
      {
        span: `weir.acquire${nth}`,
        kind: 'internal',
        status: 'unset',
        at,
        attributes: {
          ...IDENTITY,
          'weir.wait.result': 'granted',
          'weir.bucket': 'none',
          'weir.tokens.requested': 150,
          ...bound,
        },
        links: [],
        children: [],
      },
    ],
  };
}

export function relayed(at: readonly [number, number], end: string): SpanTree {
  return {
    span: 'weir.stream',
    kind: 'internal',
    status: end === 'upstream_broken' ? 'error' : 'unset',
    at,
    attributes: { ...IDENTITY, 'weir.stream.chunks': 3, 'weir.stream.bytes': 300, 'weir.stream.end': end },
    links: [],
    children: [],
  };
}

export function refunded(at: number, reason: string, amount: number, link: string): SpanTree {
  return {
    span: 'weir.refund',
    kind: 'internal',
    status: 'unset',
    at: [at, at],
    attributes: {
      ...IDENTITY,
      'weir.bucket': 'tpm',
      'weir.refund.reason': reason,
      'weir.refund.amount': amount,
      'weir.tokens.refunded': amount,
    },
    links: [link],
    children: [],
  };
}
