import { GatewayError } from '@weir/kernel';
import type { Ending, Refund } from '@weir/limiter';
import { ANSWERED, refunded, relayed, waited } from '../test/expected-spans.js';
import {
  answering,
  ASK,
  CHAT,
  client,
  drain,
  granting,
  IDENTITY,
  LEFT,
  permit,
  RATE_LIMITED,
  Scene,
  turnOf,
} from '../test/span-scene.js';

/** Nobody has chosen a target yet, so that the model is the route's name. */
const IDENTITY_BEFORE_TARGET = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.request.model': 'chat-route',
  'weir.team': 'search',
  'gen_ai.prompt.name': 'faq',
  'weir.priority': 'normal',
};

describe.each(['at once', 'later'] as const)('span tree, told %s', (told) => {
  it('plain: a wait of nothing, one attempt with its stream, a refund of what was not used', async () => {
    const scene = new Scene(told);
    const overestimate: Refund = { unit: 'tokens', amount: 60, reason: 'overestimate' };
    const turn = scene.enter(granting(permit({}, [overestimate])));
    const taken = await turn.acquire(ASK, scene.abort.signal);
    await drain(await scene.open(answering(scene)));
    taken.settle({ inputTokens: 40, outputTokens: 20 });
    turn.leave();

    expect(scene.children()).toEqual([
      waited([1000, 1000]),
      {
        span: CHAT,
        kind: 'client',
        status: 'unset',
        at: [1000, 1050],
        attributes: ANSWERED,
        links: [],
        children: [relayed([1010, 1050], 'complete')],
      },
      refunded(1050, 'overestimate', 60, 'weir.acquire'),
    ]);
  });

  it('queued: the wait counts from being next in the conversation, and names what bound it', async () => {
    const scene = new Scene(told);
    const turn = scene.enter({
      enter: () =>
        turnOf(async () => {
          await scene.clock.advance(900);
          const bound = { boundBy: 'main/rpm', boundRoom: 0, depthAtEntry: 4 };
          return permit({ eligibleAt: 1300, grantedAt: 1900, ...bound });
        }),
    });
    await turn.acquire(ASK, scene.abort.signal);

    const [wait, ...others] = scene.children();
    expect(others).toEqual([]);
    expect(wait).toEqual({
      ...waited([1300, 1900], '', {
        ...{ 'weir.bucket': 'rpm', 'weir.dimension': 'main/rpm', 'weir.bucket.level': 0 },
      }),
      attributes: { ...IDENTITY, 'weir.wait.result': 'granted', 'weir.queue.depth_at_entry': 4 },
    });
  });

  it('429, then success: a refund of tokens only, one retry, a second wait, a linked attempt', async () => {
    const scene = new Scene(told);
    const throttled: Refund = { unit: 'tokens', amount: 150, reason: 'throttled' };
    const turn = scene.enter(
      granting(permit({}, [throttled]), permit({ eligibleAt: 1000, grantedAt: 1200 })),
    );
    const first = await turn.acquire(ASK, scene.abort.signal);
    const rejected = scene.open(
      client(async (request) => {
        request.onSent?.();
        throw RATE_LIMITED;
      }),
    );
    await expect(rejected).rejects.toBe(RATE_LIMITED);
    first.fail(RATE_LIMITED);
    scene.retries.decided({
      identity: scene.call,
      attempt: 1,
      error: RATE_LIMITED,
      delayMs: 0,
      hintMs: 200,
      source: 'hint',
      result: 'scheduled',
    })();
    const second = turn.acquire(ASK, scene.abort.signal);
    await scene.clock.advance(200);
    await second;
    await drain(await scene.open(answering(scene), 2));

    const [wait, attempt, refund, retry, ...rest] = scene.children();
    expect(wait).toEqual(waited([1000, 1000], '#1'));
    expect(attempt).toEqual({
      span: `${CHAT}#1`,
      kind: 'client',
      status: 'error',
      at: [1000, 1000],
      attributes: {
        ...IDENTITY,
        'weir.attempt.number': 1,
        'weir.attempt.outcome': 'throttled',
        'gen_ai.request.stream': true,
        'http.response.status_code': 429,
        'error.type': '429',
        'weir.throttle.kind': 'requests',
        'weir.retry_after_ms': 200,
      },
      links: [],
      children: [],
    });
    expect(refund).toEqual(refunded(1000, 'throttled', 150, 'weir.acquire#1'));
    expect(retry).toEqual({
      span: 'weir.retry',
      kind: 'internal',
      status: 'unset',
      at: [1000, 1000],
      attributes: {
        ...IDENTITY,
        'weir.attempt.number': 1,
        'weir.retry.reason': 'rate_limit_requests',
        'weir.retry.delay_ms': 0,
        'weir.retry.source': 'retry_after',
        'weir.retry.result': 'scheduled',
        'weir.retry_after_ms': 200,
      },
      links: [`${CHAT}#1`],
      children: [],
    });
    expect(rest).toEqual([
      waited([1000, 1200], '#2'),
      {
        span: `${CHAT}#2`,
        kind: 'client',
        status: 'unset',
        at: [1200, 1250],
        attributes: {
          ...ANSWERED,
          'weir.attempt.number': 2,
          'weir.retry.reason': 'rate_limit_requests',
          'gen_ai.response.time_to_first_chunk': 0,
        },
        links: [`${CHAT}#1`],
        children: [relayed([1010, 1250], 'complete')],
      },
    ]);
  });

  it('exhausted: the last decision is an error, and ends where the backoff would have begun', () => {
    const scene = new Scene(told);
    const decision = { identity: scene.call, attempt: 4, error: RATE_LIMITED, delayMs: 0, hintMs: undefined };
    scene.retries.decided({ ...decision, source: 'computed', result: 'exhausted' })();
    expect(scene.children()).toEqual([
      {
        span: 'weir.retry',
        kind: 'internal',
        status: 'error',
        at: [1000, 1000],
        attributes: {
          ...IDENTITY_BEFORE_TARGET,
          'weir.attempt.number': 4,
          'weir.retry.reason': 'rate_limit_requests',
          'weir.retry.delay_ms': 0,
          'weir.retry.source': 'computed',
          'weir.retry.result': 'exhausted',
        },
        links: [],
        children: [],
      },
    ]);
  });

  it('cancelled in the queue: both spans end then, and neither is an error', async () => {
    const scene = new Scene(told);
    const turn = scene.enter({
      enter: () =>
        turnOf(async () => {
          await scene.clock.advance(500);
          throw LEFT;
        }),
    });
    await expect(turn.acquire(ASK, scene.abort.signal)).rejects.toBe(LEFT);
    const cancelled = { kind: 'internal', status: 'unset', at: [1000, 1500], links: [] };
    const attributes = { ...IDENTITY, 'weir.wait.result': 'cancelled' };
    const asked = { 'weir.bucket': 'none', 'weir.tokens.requested': 150 };
    expect(scene.children()).toEqual([
      {
        span: 'weir.queue.wait',
        ...cancelled,
        attributes,
        children: [
          { span: 'weir.acquire', ...cancelled, attributes: { ...attributes, ...asked }, children: [] },
        ],
      },
    ]);
  });

  it.each([
    ['wait_exceeds_deadline', 'timeout'],
    ['draining', 'shed'],
  ] as const)(
    'refused with %s: an error whose result is %s, and what was in the way',
    async (code, result) => {
      const scene = new Scene(told);
      const refusal = new GatewayError(code, 'No.', { dimension: 'main/rpm' });
      const turn = scene.enter({ enter: () => turnOf(() => Promise.reject(refusal)) });
      await expect(turn.acquire(ASK, scene.abort.signal)).rejects.toBe(refusal);
      const bound = { 'weir.bucket': 'rpm', 'weir.dimension': 'main/rpm' };
      expect(scene.children()).toMatchObject([
        { status: 'error', attributes: { 'weir.wait.result': result }, children: [{ attributes: bound }] },
      ]);
    },
  );

  it('refused at the door: a wait of nothing that was shed', () => {
    const scene = new Scene(told);
    const refusal = new GatewayError('queue_full', 'Full.');
    expect(() =>
      scene.enter({
        enter: () => {
          throw refusal;
        },
      }),
    ).toThrow(refusal);
    expect(scene.children()).toMatchObject([
      {
        span: 'weir.queue.wait',
        status: 'error',
        attributes: { 'gen_ai.request.model': 'chat-route', 'weir.wait.result': 'shed' },
      },
    ]);
  });

  it('cancelled mid-stream: attempt and stream end at the abort, neither is an error', async () => {
    const scene = new Scene(told);
    const answer = await scene.open(answering(scene));
    await answer.frames[Symbol.asyncIterator]().next();
    scene.abort.abort(LEFT);
    await scene.clock.advance(100);
    expect(scene.children()).toEqual([
      {
        span: CHAT,
        kind: 'client',
        status: 'unset',
        at: [1000, 1030],
        attributes: { ...ANSWERED, 'weir.attempt.outcome': 'cancelled' },
        links: [],
        children: [relayed([1010, 1030], 'client_gone')],
      },
    ]);
  });

  it('a reader that leaves ends the attempt like a caller that left', async () => {
    const scene = new Scene(told);
    for await (const _frame of (await scene.open(answering(scene))).frames) break;
    expect(scene.children()).toMatchObject([
      {
        status: 'unset',
        attributes: { 'weir.attempt.outcome': 'cancelled' },
        children: [{ status: 'unset' }],
      },
    ]);
  });

  it('broken mid-stream: attempt and stream are errors', async () => {
    const scene = new Scene(told);
    const cut = new GatewayError('stream_truncated', 'Cut.', { origin: 'provider', committed: true });
    await expect(drain(await scene.open(answering(scene, cut)))).rejects.toBe(cut);
    expect(scene.children()).toMatchObject([
      {
        status: 'error',
        attributes: { 'weir.attempt.outcome': 'error', 'error.type': 'stream_truncated' },
        children: [{ status: 'error', attributes: { 'weir.stream.end': 'upstream_broken' } }],
      },
    ]);
  });

  it('forbidden at the last moment: the attempt was not sent', async () => {
    const scene = new Scene(told);
    const tooLate = new GatewayError('wait_exceeds_deadline', 'too late');
    const forbidden = client((request) => {
      request.onSent?.();
      return Promise.reject(new Error('it was sent'));
    });
    await expect(
      scene.open(forbidden, 1, () => {
        throw tooLate;
      }),
    ).rejects.toBe(tooLate);
    expect(scene.children()).toMatchObject([
      { status: 'error', attributes: { 'weir.attempt.sent': false, 'error.type': 'wait_exceeds_deadline' } },
    ]);
  });

  it('never sent: the attempt says so', async () => {
    const scene = new Scene(told);
    const refused = new GatewayError('upstream_unavailable', 'Refused.', { retryable: true });
    await expect(scene.open(client(() => Promise.reject(refused)))).rejects.toBe(refused);
    expect(scene.children()).toMatchObject([
      { status: 'error', attributes: { 'weir.attempt.sent': false, 'error.type': 'upstream_unavailable' } },
    ]);
  });

  it('ends a permit once', async () => {
    const scene = new Scene(told);
    const again: Ending = { kind: 'already_ended', reservedTokens: 150, chargedTokens: 150, refunds: [] };
    const refund: Refund = { unit: 'requests', amount: 1, reason: 'cancelled' };
    const turn = scene.enter(granting(permit({ settle: () => again }, [refund])));
    const taken = await turn.acquire(ASK, scene.abort.signal);
    taken.cancel();
    expect(taken.settle({ inputTokens: 1, outputTokens: 1 })).toBe(again);
    scene.children();
    expect(scene.tracer.named('weir.refund').map(({ attributes }) => attributes)).toEqual([
      { ...IDENTITY, 'weir.bucket': 'rpm', 'weir.refund.reason': 'cancelled', 'weir.refund.amount': 1 },
    ]);
  });
});
