import { MODEL } from './house.js';
import type { StillTree } from './span-tree.js';

type Attributes = Readonly<Record<string, unknown>>;

/** Who a request is for and where it goes: on every span of ours. */
const IDENTITY = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': 'generic',
  'gen_ai.request.model': MODEL,
  'weir.account': 'main',
  'weir.team': 'search',
  'gen_ai.prompt.name': 'none',
  'weir.priority': 'normal',
};

/** What a request reserves: its prompt by estimate, and the output that is presumed where nobody says. */
export const RESERVED = 1034;
export const CHAT = `chat ${MODEL}`;

function leaf(span: string, attributes: Attributes, more: Partial<StillTree> = {}): StillTree {
  const usual = { kind: 'internal', status: 'unset', links: [], children: [] } as const;
  return { span, ...usual, attributes, ...more };
}

/** The server span, over everything. @param attributes beside those of every request that was understood */
export function served(
  status: number,
  attributes: Attributes,
  children: readonly StillTree[],
  more: Partial<StillTree> = {},
): StillTree {
  const common = {
    ...IDENTITY,
    'http.request.method': 'POST',
    'http.route': '/v1/chat/completions',
    'http.response.status_code': status,
    'weir.request.id': '<string>',
    'weir.tokens.estimated': RESERVED,
    ...attributes,
  };
  return leaf('POST /v1/chat/completions', common, { kind: 'server', children, ...more });
}

/** The books of a request, as its server span sums them up. */
export function booked(attempts: number, used: number): Attributes {
  const reserved = attempts * RESERVED;
  return {
    'weir.attempts': attempts,
    'weir.tokens.reserved': reserved,
    'weir.tokens.used': used,
    'weir.tokens.refunded': reserved - used,
  };
}

/** A wait and what it was for. @param nth such as `#2`, where there are several */
export function waited(nth = '', bound: Attributes = { 'weir.bucket': 'none' }): StillTree {
  const granted = { ...IDENTITY, 'weir.wait.result': 'granted' };
  const acquire = leaf(`weir.acquire${nth}`, { ...granted, 'weir.tokens.requested': RESERVED, ...bound });
  return leaf(
    `weir.queue.wait${nth}`,
    { ...granted, 'weir.queue.depth_at_entry': 0 },
    { children: [acquire] },
  );
}

/** A wait that its caller left. */
export function left(): StillTree {
  const cancelled = { ...IDENTITY, 'weir.wait.result': 'cancelled' };
  const requested = { 'weir.tokens.requested': RESERVED, 'weir.bucket': 'none' };
  return leaf('weir.queue.wait', cancelled, {
    children: [leaf('weir.acquire', { ...cancelled, ...requested })],
  });
}

/** The same, where several spans have its name. */
export function nth(number: number, tree: StillTree): StillTree {
  return { ...tree, span: `${tree.span}#${number}` };
}

/** One attempt; the second and later ones link to the one before. */
export function attempt(
  number: number,
  attributes: Attributes,
  children: readonly StillTree[],
  more: Partial<StillTree> = {},
): StillTree {
  const common = {
    ...IDENTITY,
    'server.address': '127.0.0.1',
    'server.port': '<number>',
    'weir.attempt.number': number,
    'gen_ai.request.stream': true,
    ...attributes,
  };
  const links = number > 1 ? [`${CHAT}#${number - 1}`] : [];
  return leaf(CHAT, common, { kind: 'client', links, children, ...more });
}

/** The automatic span of the call itself. */
export function posted(number: number, attributes: Attributes, more: Partial<StillTree> = {}): StillTree {
  const common = {
    'http.request.method': 'POST',
    'http.request.method_original': 'POST',
    'url.full': 'http://127.0.0.1:<port>/v1/chat/completions',
    'url.path': '/v1/chat/completions',
    'url.query': '',
    'url.scheme': 'http',
    'server.address': '127.0.0.1',
    'server.port': '<number>',
    'network.peer.address': '127.0.0.1',
    'network.peer.port': '<number>',
    'network.protocol.version': '1.1',
    'user_agent.original': 'weir',
    ...(number > 1 ? { 'http.request.resend_count': number - 1 } : {}),
    ...attributes,
  };
  return leaf('POST', common, { kind: 'client', ...more });
}

/** What stands on an attempt whose stream came whole. */
export function answered(inputTokens: number, outputTokens: number): Attributes {
  return {
    ...begun(),
    'weir.attempt.outcome': 'ok',
    'gen_ai.response.finish_reasons': ['stop'],
    'gen_ai.usage.input_tokens': inputTokens,
    'gen_ai.usage.output_tokens': outputTokens,
    'gen_ai.usage.cache_read.input_tokens': 0,
  };
}

/** What stands on an attempt whose stream began. */
export function begun(): Attributes {
  return {
    'http.response.status_code': 200,
    'gen_ai.response.model': MODEL,
    'gen_ai.response.id': '<string>',
    'gen_ai.response.time_to_first_chunk': '<number>',
  };
}

const ERROR_429 = { 'http.response.status_code': 429, 'error.type': '429' };
const FAILED = { status: 'error' } as const;

/** An attempt that met a 429 with a hint of 300 ms. */
export function throttled(number: number, attributes: Attributes = {}): StillTree {
  const what = { 'weir.attempt.outcome': 'throttled', 'weir.throttle.kind': 'requests' };
  return nth(
    number,
    attempt(
      number,
      { ...ERROR_429, ...what, 'weir.retry_after_ms': 300, ...attributes },
      [nth(number, posted(number, ERROR_429, FAILED))],
      FAILED,
    ),
  );
}

/** The relay of a stream. */
export function relayed(chunks: number, bytes: number, end = 'complete', nth = ''): StillTree {
  const attributes = { 'weir.stream.chunks': chunks, 'weir.stream.bytes': bytes, 'weir.stream.end': end };
  const status = end === 'upstream_broken' ? 'error' : 'unset';
  return leaf(`weir.stream${nth}`, { ...IDENTITY, ...attributes }, { status });
}

/** A decision after an attempt, and what it says. */
export function decided(number: number, attributes: Attributes, more: Partial<StillTree> = {}): StillTree {
  const common = { ...IDENTITY, 'weir.attempt.number': number, ...attributes };
  return leaf('weir.retry', common, { links: [`${CHAT}#${number}`], ...more });
}

/** The same after a 429 with a hint of 300 ms, for which the paused quota waits. */
export function decidedAfter429(number: number, result: 'scheduled' | 'exhausted'): StillTree {
  const attributes = {
    'weir.retry.reason': 'rate_limit_requests',
    'weir.retry.delay_ms': 0,
    'weir.retry.source': 'retry_after',
    'weir.retry.result': result,
    'weir.retry_after_ms': 300,
  };
  return decided(number, attributes, result === 'scheduled' ? {} : FAILED);
}

/** Tokens that came back. */
export function refunded(tokens: number, reason: string, nth = ''): StillTree {
  const amounts = { 'weir.refund.amount': tokens, 'weir.tokens.refunded': tokens };
  return leaf(
    `weir.refund${nth}`,
    { ...IDENTITY, 'weir.bucket': 'tpm', 'weir.refund.reason': reason, ...amounts },
    { links: [`weir.acquire${nth}`] },
  );
}
