import { createHash } from 'node:crypto';
import { contentOf, dataOf, simHashOf } from './harness/chunks.js';
import { errorIn, type Reply } from './harness/http-caller.js';
import { House, question } from './harness/house.js';
import { idOf, linksOf, parentOf, type EndedSpan } from './harness/span-log.js';

/** What was charged for an attempt in the end. */
type Charge = 'nothing' | 'its reservation' | 'what came' | 'its usage';

/** What one fault comes to. */
interface Outcome {
  /** `whole`, a status with a code, or a code in the stream. */
  readonly caller: string;
  /** How each call ended, in order. */
  readonly calls: readonly string[];
  readonly charged: readonly Charge[];
}

type Policy = 'fail' | 'splice' | 'continue';

interface Row {
  readonly fault: string;
  readonly script: object;
  /** The least that the caller waits. */
  readonly hintMs?: number;
  /** Whether a refused request comes back, as well as its tokens. */
  readonly refundsRequest?: true;
  readonly plain: Outcome;
  readonly stream: Outcome | Readonly<Record<Policy, Outcome>>;
}

const again = (call: string, charged: Charge): Outcome => ({
  caller: 'whole',
  calls: [call, 'ok'],
  charged: [charged, 'its usage'],
});
const WHOLE: Outcome = { caller: 'whole', calls: ['ok'], charged: ['its usage'] };
/** A break behind the commit point. */
const late = (call: string, code: string): Readonly<Record<Policy, Outcome>> => ({
  fail: { caller: `in-band ${code}`, calls: [call], charged: ['what came'] },
  splice: again(call, 'what came'),
  continue: again(call, 'what came'),
});
const refused = (status: number, code: string, call: string, charged: Charge): Outcome => ({
  caller: `${status} ${code}`,
  calls: [call],
  charged: [charged],
});

const THROTTLED = again('throttled requests', 'nothing');
const TRANSIENT = (call: string): Outcome => again(call, 'its reservation');

function throttling(fault: string, script: object, hintMs?: number): Row {
  const hint = hintMs === undefined ? {} : { hintMs };
  return { fault, script: { status: 429, ...script }, ...hint, plain: THROTTLED, stream: THROTTLED };
}

function both(fault: string, script: object, outcome: Outcome): Row {
  return { fault, script, plain: outcome, stream: outcome };
}

const INNER_429 = { error: { message: 'Rate limit reached for requests', type: 'requests', code: 429 } };
const INNER_500 = { error: { message: 'The model crashed', type: 'server_error', code: 500 } };
const GOOGLE = {
  error: {
    code: 429,
    status: 'RESOURCE_EXHAUSTED',
    message: 'Resource has been exhausted',
    details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '0.15s' }],
  },
};
const PROSE = { error: { message: 'Rate limit reached for requests. Please try again in 150ms.' } };
const OWN_NUMBER = { base_resp: { status_code: 1002, status_msg: 'rate limit' } };
const CROWDED = { error: { message: 'Too many concurrent requests', type: 'concurrency_limit' } };
/** Behind the first visible frames, and long before the last. */
const LATE_FRAME = 12;

const TABLE: readonly Row[] = [
  throttling('429 with retry-after-ms', { headers: { 'retry-after-ms': '150' } }, 150),
  throttling('429 with retry-after in seconds', { headers: { 'retry-after': '1' } }, 1000),
  throttling('429 with a delay in its body', { body: GOOGLE }, 150),
  throttling('429 with a delay in its prose', { body: PROSE }, 150),
  throttling(
    '429 with a reset time',
    { headers: { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '150ms' } },
    150,
  ),
  throttling('429 without a hint', {}),
  {
    ...throttling('429 for concurrency', { body: CROWDED, headers: { 'retry-after-ms': '20' } }, 20),
    plain: again('throttled concurrency', 'nothing'),
    stream: again('throttled concurrency', 'nothing'),
    refundsRequest: true,
  },
  both('429 hidden in a 200', { status: 200, body: INNER_429 }, THROTTLED),
  both('429 in a 200 without the field error', { body: { code: 429, message: 'slow down' } }, THROTTLED),
  both('a limit by a number of the provider’s own', { body: OWN_NUMBER }, THROTTLED),
  {
    fault: 'an error in the first frame',
    script: { errorAtFrame: { frame: 1, body: INNER_500 } },
    plain: TRANSIENT('error 500'),
    stream: TRANSIENT('error 500'),
  },
  {
    fault: 'an error in a later frame',
    script: { errorAtFrame: { frame: LATE_FRAME, body: INNER_500 } },
    plain: TRANSIENT('error 500'),
    stream: late('error 500', '500'),
  },
  {
    fault: 'a 429 in a later frame',
    script: { errorAtFrame: { frame: LATE_FRAME, body: INNER_429 } },
    plain: THROTTLED,
    stream: late('throttled requests', '429'),
  },
  both('a cut before the first frame', { cutAtByte: 60 }, TRANSIENT('error upstream_unavailable')),
  {
    fault: 'a cut in the middle',
    script: { cutAtByte: 2500 },
    // A plain answer of the simulator is shorter than that.
    plain: WHOLE,
    stream: late('error stream_truncated', 'stream_truncated'),
  },
  both(
    'a stall before the first frame',
    { stallAtFrame: { frame: 1, ms: 60_000 } },
    TRANSIENT('timeout timeout'),
  ),
  {
    fault: 'a stall in the middle',
    script: { stallAtFrame: { frame: LATE_FRAME, ms: 60_000 } },
    plain: TRANSIENT('timeout timeout'),
    stream: late('timeout timeout', 'upstream_timeout'),
  },
  both('a slow drip', { dripBytesPerSecond: 40_000 }, WHOLE),
  both('a reset after the headers', { resetAfterHeaders: true }, TRANSIENT('error upstream_unavailable')),
  both('500', { status: 500 }, TRANSIENT('error 500')),
  both('503', { status: 503 }, again('error 503', 'nothing')),
  both('529', { status: 529 }, again('error 529', 'nothing')),
  both('502 with a web page', { status: 502, html: true }, TRANSIENT('error 502')),
  both(
    '200 with a web page',
    { html: true },
    refused(502, 'upstream_protocol', 'error upstream_protocol', 'its reservation'),
  ),
  both('an empty body', { body: '' }, TRANSIENT('error upstream_protocol')),
  both('an answer without choices', { body: { choices: [] } }, TRANSIENT('error upstream_protocol')),
  both(
    'a stream of nothing',
    { body: 'data: {"choices":[],"prompt_filter_results":[]}\n\ndata: [DONE]\n\n' },
    TRANSIENT('error upstream_protocol'),
  ),
  {
    fault: 'a body that is no answer',
    script: { body: 'all is well' },
    plain: TRANSIENT('error upstream_protocol'),
    stream: TRANSIENT('error upstream_unavailable'),
  },
  both('a wrong content type', { headers: { 'content-type': 'text/plain' } }, WHOLE),
];

const POLICIES: readonly Policy[] = ['fail', 'splice', 'continue'];
const SERVER = 'POST /v1/chat/completions';
const FRAMES = 40;
const FORMS = ['stream', 'plain'] as const;

let house: House;
/** What each model says when nothing goes wrong. */
const texts = new Map<Policy, string>();

/** A house for each fault: the retry budget counts over ten seconds. */
async function move(): Promise<void> {
  const model = (midStream: Policy): object => ({ midStream, limits: { requestsPerMinute: 10_000 } });
  house = await House.start({
    account: {
      models: Object.fromEntries(POLICIES.map((policy) => [`m-${policy}`, model(policy)])),
      limits: { tokensPerMinute: 1_000_000 },
      windowSeconds: 0.2,
    },
    retry: { budgetRatio: 1 },
    breaker: { minAttempts: 10_000 },
    timeouts: { headersMs: 1500, firstFrameMs: 1500, idleMs: 1000 },
  });
  await house.sim.behaviour({ frames: FRAMES });
  for (const policy of POLICIES) texts.set(policy, contentOf((await house.chat(ask(policy, 'stream'))).text));
}

function ask(policy: Policy, form: (typeof FORMS)[number]): object {
  const streaming = form === 'stream' ? { stream: true, stream_options: { include_usage: true } } : {};
  return question({ model: `m-${policy}`, max_tokens: 1000, ...streaming });
}

describe.each(TABLE)('$fault', (row) => {
  beforeAll(move);
  afterAll(() => house.close());
  beforeEach(async () => {
    expect((await house.quiet()).limiter.open).toBe(0);
    await house.sim.reset();
    await house.sim.behaviour({ frames: FRAMES });
    house.spans.clear();
  });

  const cases = FORMS.flatMap((form) =>
    POLICIES.map((policy) => {
      const outcome = form === 'plain' ? row.plain : 'caller' in row.stream ? row.stream : row.stream[policy];
      return { form, policy, outcome, says: `${outcome.caller} (${outcome.calls.join(', ')})` };
    }),
  );

  it.each(cases)('$form, $policy: $says', async ({ form, policy, outcome }) => {
    await house.sim.faults({ times: 1, ...row.script });
    const before = performance.now();
    const reply = await house.chat(ask(policy, form));
    expect(performance.now() - before).toBeGreaterThanOrEqual(row.hintMs ?? 0);
    expect(told(reply)).toBe(outcome.caller);
    if (outcome.caller === 'whole') expectText(reply, policy, outcome.calls.length > 1);
    await house.spans.until(SERVER, 1);
    await house.quiet();
    expectSpans(`m-${policy}`, outcome);
    await expectBooks(`m-${policy}`, row, outcome);
  });
});

/** What the caller makes of its answer. */
function told({ status, text }: Reply): string {
  if (status !== 200) return `${status} ${errorIn(text).code}`;
  const [, inBand] = text.split('event: error\ndata: ');
  if (inBand === undefined) return 'whole';
  expect(text).not.toContain('[DONE]');
  return `in-band ${errorIn(inBand).code}`;
}

function expectText(reply: Reply, policy: Policy, isJoined: boolean): void {
  const isStream = reply.headers['content-length'] === undefined;
  const text = isStream ? contentOf(reply.text) : messageOf(reply);
  expect(text).toBe(texts.get(policy));
  if (isStream) expect(dataOf(reply.text).filter((data) => data === '[DONE]')).toHaveLength(1);
  // The hash that the simulator tells is that of what it said last: of the rest only, where that was asked for.
  const said = isStream ? simHashOf(reply.text) : reply.headers['x-sim-text-sha256'];
  if (policy === 'continue' && isJoined && isStream) return;
  expect(createHash('sha256').update(text).digest('hex')).toBe(said);
}

function messageOf(reply: Reply): string {
  const { choices } = reply.json as { choices: readonly { message: { content: string } }[] };
  return choices[0]?.message.content ?? '';
}

function callOf({ attributes }: EndedSpan): string {
  const outcome = String(attributes['weir.attempt.outcome']);
  if (outcome === 'ok') return 'ok';
  return `${outcome} ${String(attributes[outcome === 'throttled' ? 'weir.throttle.kind' : 'error.type'])}`;
}

/** One attempt, wait and acquire for each call, one retry between two, each linked to the call before it. */
function expectSpans(model: string, { calls, charged }: Outcome): void {
  const { spans } = house;
  const [server] = spans.named(SERVER);
  const attempts = spans.named(`chat ${model}`);
  const retries = spans.named('weir.retry');
  expect(attempts.map(callOf)).toEqual(calls);
  expect(attempts.map(parentOf)).toEqual(calls.map(() => idOf(server)));
  expect(attempts.map(linksOf)).toEqual(
    calls.map((_, index) => (index === 0 ? [] : [idOf(attempts[index - 1])])),
  );
  expect(retries.map(linksOf)).toEqual(calls.slice(1).map((_, index) => [idOf(attempts[index])]));
  // Only what follows a break behind the commit point is a resumed stream.
  const results = attempts.map(({ attributes }) => attributes['weir.resume.result']);
  expect(results).toEqual(
    calls.map((_, index) => (charged[index - 1] === 'what came' ? 'joined' : undefined)),
  );
  for (const name of ['weir.queue.wait', 'weir.acquire'])
    expect(spans.named(name)).toHaveLength(calls.length);
}

/** The limiter's charge for each call, and the provider's own ledger. */
async function expectBooks(model: string, row: Row, { calls, charged }: Outcome): Promise<void> {
  const tally = await house.sim.ofModel(model);
  const whole = calls.filter((call) => call === 'ok').length;
  expect(tally).toMatchObject({ received: calls.length, completed: whole });
  expect(tally.aborted + tally.rejected.fault).toBe(calls.length - whole);

  const refunds = house.spans.named('weir.refund');
  const amounts = house.spans.named('weir.acquire').map((acquire) => {
    const reserved = Number(acquire.attributes['weir.tokens.requested']);
    const refund = refunds.find(
      (span) => linksOf(span)[0] === idOf(acquire) && span.attributes['weir.bucket'] === 'tpm',
    );
    return { reserved, charge: reserved - Number(refund?.attributes['weir.tokens.refunded'] ?? 0) };
  });
  expect(amounts).toHaveLength(charged.length);
  amounts.forEach(({ reserved, charge }, index) => {
    const usage = tally.tokens.prompt + tally.tokens.completion;
    expectCharge(charged[index] ?? 'nothing', { reserved, charge, usage });
  });
  const used = amounts.reduce((sum, { charge }) => sum + charge, 0);
  expect(house.spans.named(SERVER)[0]?.attributes['weir.tokens.used']).toBe(used);
  const requests = refunds.filter(({ attributes }) => attributes['weir.bucket'] === 'rpm');
  expect(requests).toHaveLength(row.refundsRequest === true ? 1 : 0);
}

function expectCharge(
  kind: Charge,
  { reserved, charge, usage }: { reserved: number; charge: number; usage: number },
): void {
  if (kind === 'nothing') expect(charge).toBe(0);
  if (kind === 'its reservation') expect(charge).toBe(reserved);
  if (kind === 'its usage') expect(charge).toBe(usage);
  if (kind === 'what came') {
    expect(charge).toBeGreaterThan(5);
    expect(charge).toBeLessThan(100);
  }
}
