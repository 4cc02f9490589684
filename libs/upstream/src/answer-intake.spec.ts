import { GatewayError } from '@weir/kernel';
import { IntakeHarness, TIMEOUTS } from './testing/intake-harness.js';

const SECOND = 1000;
const TEXT = 'data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}\n\n';
const ROLE = 'data: {"choices":[{"index":0,"delta":{"role":"assistant"},"finish_reason":null}]}\n\n';
const STOP = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n';
const DONE = 'data: [DONE]\n\n';

/** An intake whose first visible frame is out. */
async function opened(): Promise<IntakeHarness> {
  const harness = new IntakeHarness();
  harness.connect();
  harness.respond();
  harness.receive(TEXT);
  await harness.clock.advance(0);
  return harness;
}

describe('waits', () => {
  it.each([
    ['connect', TIMEOUTS.connectMs, false],
    ['headers', TIMEOUTS.headersMs, true],
    ['first_frame', TIMEOUTS.firstFrameMs, true],
  ])('%s runs out after its limit and is retried', async (phase, limitMs, sent) => {
    const harness = new IntakeHarness();
    if (phase !== 'connect') harness.connect();
    if (phase === 'first_frame') harness.respond();
    await harness.clock.advance(limitMs - 1);
    expect(harness.failure).toBeUndefined();
    await harness.clock.advance(1);
    expect(harness.failure).toMatchObject({ code: 'upstream_timeout', phase, sent, retryable: true });
    expect(harness.clock.armed).toBe(0);
    expect(harness.transport.aborted).toBe(sent);
  });

  it('lets nothing but output prolong the wait for the first frame', async () => {
    const harness = new IntakeHarness();
    harness.connect();
    harness.respond();
    for (let i = 0; i < 4; i += 1) {
      harness.receive(': keep-alive\n\n', ROLE);
      await harness.clock.advance(TIMEOUTS.firstFrameMs / 4);
    }
    expect(harness.failure).toMatchObject({ phase: 'first_frame' });
  });

  it('takes every byte of a plain answer as a sign of life', async () => {
    const harness = new IntakeHarness({ stream: false });
    harness.connect();
    harness.respond(200, { 'content-type': 'application/json' });
    for (let i = 0; i < 4; i += 1) {
      harness.receive('\n');
      await harness.clock.advance(TIMEOUTS.firstFrameMs - 1);
    }
    harness.receive('{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}');
    harness.intake.ended();
    await harness.clock.advance(0);
    await harness.read();
    expect(harness.ended).toBe(true);
    expect(harness.clock.armed).toBe(0);
  });

  it('does not take keep-alive comments for output', async () => {
    const harness = await opened();
    void harness.read();
    for (let i = 0; i < 6; i += 1) {
      await harness.clock.advance(SECOND / 2);
      harness.receive(': ping\n\n');
    }
    await harness.clock.advance(0);
    expect(harness.failure).toMatchObject({ phase: 'idle', retryable: false, committed: true });
    expect(harness.frames.length).toBeGreaterThanOrEqual(6);
  });

  it('takes parts of a large event for life', async () => {
    const harness = await opened();
    void harness.read();
    harness.receive('data: {"choices":[{"index":0,"delta":{"content":"');
    for (let i = 0; i < 6; i += 1) {
      await harness.clock.advance(2 * SECOND);
      harness.receive('x');
    }
    expect(harness.failure).toBeUndefined();
  });

  it('does not count silence while the reader is slow', async () => {
    const harness = await opened();
    for (let i = 0; i < 1000 && !harness.transport.paused; i += 1) harness.receive(TEXT);
    expect(harness.transport.paused).toBe(true);
    await harness.clock.advance(10 * TIMEOUTS.idleMs);
    expect(harness.failure).toBeUndefined();
    void harness.read();
    await harness.clock.advance(TIMEOUTS.idleMs - 1);
    expect(harness.transport.paused).toBe(false);
    expect(harness.failure).toBeUndefined();
    await harness.clock.advance(1);
    expect(harness.failure).toMatchObject({ phase: 'idle' });
  });

  it('ends everything at the total, whoever is slow', async () => {
    const harness = await opened();
    for (let i = 0; i < 1000 && !harness.transport.paused; i += 1) harness.receive(TEXT);
    await harness.clock.advance(TIMEOUTS.totalMs);
    await harness.read();
    expect(harness.frames.length).toBeGreaterThan(100);
    expect(harness.failure).toMatchObject({ phase: 'total', committed: true });
    expect(harness.transport.aborted).toBe(true);
  });

  it('sets no timer per chunk', async () => {
    const harness = await opened();
    void harness.read();
    const before = harness.clock.timersSet;
    for (let i = 0; i < 100; i += 1) harness.receive(TEXT);
    expect(harness.clock.timersSet).toBe(before);
  });
});

describe('the last moment before the first byte', () => {
  it('is when somebody may forbid it: the connection stays good, and no timer is left', async () => {
    const tooLate = new GatewayError('wait_exceeds_deadline', 'too late');
    const harness = new IntakeHarness({
      onSent: () => {
        throw tooLate;
      },
    });
    expect(() => {
      harness.connect();
    }).toThrow(tooLate);
    await harness.clock.advance(0);
    expect(harness.failure).toBe(tooLate);
    expect(harness.transport.aborted).toBe(false);
    expect(harness.clock.armed).toBe(0);
    harness.intake.broke(tooLate);
    expect(harness.failure).toBe(tooLate);
  });
});

describe('ends', () => {
  it('gives the body a second after [DONE], then is content', async () => {
    const harness = await opened();
    void harness.read();
    harness.receive(STOP, DONE);
    await harness.clock.advance(SECOND - 1);
    expect(harness.ended).toBe(false);
    await harness.clock.advance(1);
    expect(harness.ended).toBe(true);
    expect(harness.transport.aborted).toBe(true);
    expect(harness.clock.armed).toBe(0);
  });

  it('is content with a finish where the provider falls silent or breaks then', async () => {
    for (const end of [
      (harness: IntakeHarness) => harness.clock.advance(TIMEOUTS.idleMs),
      (harness: IntakeHarness) => {
        harness.intake.broke(new Error('reset'));
        return harness.clock.advance(0);
      },
    ]) {
      const harness = await opened();
      void harness.read();
      harness.receive(STOP);
      await end(harness);
      expect(harness).toMatchObject({ ended: true, failure: undefined });
    }
  });

  it('waits for every choice that has begun', async () => {
    const harness = await opened();
    void harness.read();
    harness.receive(TEXT.replace('"index":0', '"index":1'), STOP);
    harness.intake.broke(new Error('reset'));
    await harness.clock.advance(0);
    expect(harness.failure).toMatchObject({ code: 'stream_truncated' });
  });

  it('forwards an error after the finish as information', async () => {
    const harness = await opened();
    void harness.read();
    const late =
      'data: {"error":{"code":400},"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}\n\n';
    harness.receive(STOP, late, DONE);
    harness.intake.ended();
    await harness.clock.advance(0);
    expect(harness.ended).toBe(true);
    expect(Buffer.from(harness.frames[2]?.bytes ?? []).toString()).toBe(late);
    expect(harness.answer?.reading.usage?.outputTokens).toBe(2);
  });

  it.each([
    ['the account', '{"error":{"code":401}}', false],
    ['the budget', '{"error":{"code":402}}', false],
    ['the provider', '{"error":{"code":500}}', true],
    ['nothing that is JSON', 'went wrong', true],
  ])('an error about %s after output', async (_name, data, shown) => {
    const harness = await opened();
    void harness.read();
    harness.receive(`event: error\ndata: ${data}\n\n`);
    await harness.clock.advance(0);
    expect(harness.failure).toMatchObject({ committed: true, retryable: false });
    const { passThrough } = harness.failure as { passThrough?: { body: Uint8Array } };
    expect(passThrough !== undefined).toBe(shown);
    if (passThrough)
      expect(() => JSON.parse(Buffer.from(passThrough.body).toString()) as unknown).not.toThrow();
  });

  it('happens once: what comes later changes nothing', async () => {
    const harness = await opened();
    void harness.read();
    harness.intake.broke(new Error('reset'));
    await harness.clock.advance(0);
    const { failure } = harness;
    harness.receive(TEXT, STOP, DONE);
    harness.respond(500);
    harness.intake.ended();
    harness.intake.broke(new Error('again'));
    harness.abort.abort(new Error('late'));
    await harness.clock.advance(TIMEOUTS.totalMs);
    expect(harness.failure).toBe(failure);
    expect(harness.frames).toHaveLength(1);
    expect(harness.clock.armed).toBe(0);
  });

  it('drops a connection that comes when nobody waits any more', () => {
    const harness = new IntakeHarness();
    harness.abort.abort(new Error('left'));
    harness.connect();
    expect(harness.transport.aborted).toBe(true);
    expect(harness.clock.armed).toBe(0);
  });

  it('refuses a plain answer that is too large to hold', async () => {
    const harness = new IntakeHarness({ stream: false });
    harness.connect();
    harness.respond(200, { 'content-type': 'application/json' });
    const megabyte = Buffer.alloc(1024 * 1024, 'x');
    for (let i = 0; i < 33; i += 1) harness.intake.received(megabyte);
    await harness.clock.advance(0);
    expect(harness.failure).toMatchObject({ code: 'upstream_protocol', failure: 'fatal', retryable: false });
  });

  it('refuses a line that is too large to hold', async () => {
    const harness = await opened();
    void harness.read();
    const megabyte = Buffer.alloc(1024 * 1024, 'x');
    for (let i = 0; i < 17; i += 1) harness.intake.received(Buffer.from(megabyte));
    await harness.clock.advance(0);
    expect(harness.failure).toMatchObject({ code: 'upstream_protocol', committed: true, retryable: false });
    expect(harness.transport.aborted).toBe(true);
  });
});
