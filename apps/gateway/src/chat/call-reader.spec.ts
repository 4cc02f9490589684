import type { Clock } from '@weir/kernel';
import { TokenEstimator, type ReservationRule } from '@weir/limiter';
import { FakeClock } from '@weir/testing';
import { CallReader, type RawCall } from './call-reader.js';

const targets = [{ account: 'main', model: 'provider-name' }];
const fallback = [{ account: 'spare', model: 'other-name' }];

const ROOM = { tokens: 700, inputTokens: Infinity, outputTokens: Infinity };

function reader(
  maxWaitMs = 60_000,
  books: ReservationRule = 'prompt_and_max',
  clock: Clock = new FakeClock(1000),
) {
  const routes = Object.assign(Object.create(null) as Record<string, unknown>, {
    chat: { targets, fallback },
  });
  const rules = {
    routes: () => routes as Record<string, { targets: typeof targets; fallback: typeof fallback }>,
    maxWaitMs: () => maxWaitMs,
    books: () => books,
    room: () => ({ first: ROOM, least: ROOM, each: [ROOM] }),
  };
  return new CallReader(rules, new TokenEstimator(), clock);
}

function raw(body: unknown, headers: RawCall['headers'] = {}): RawCall {
  return { requestId: 'r1', team: 'search', headers, body: Buffer.from(JSON.stringify(body)) };
}

const question = { model: 'chat', messages: [{ role: 'user', content: 'x'.repeat(400) }], max_tokens: 50 };

describe('CallReader', () => {
  it('makes a call of everything that is known', () => {
    const call = reader().read(raw(question, { 'x-prompt-template': 'faq', 'x-weir-priority': 'high' }));
    expect(call).toMatchObject({
      identity: {
        requestId: 'r1',
        team: 'search',
        model: 'chat',
        operation: 'chat',
        template: 'faq',
        priority: 'high',
      },
      targets,
      fallback,
      characters: 400,
      arrivedAt: 1000,
      deadline: 61_000,
    });
    expect(call.cost.inputTokens).toBeGreaterThan(0);
    expect(call.cost.outputTokens).toBeLessThanOrEqual(50);
  });

  it("reserves as the first target's provider books", () => {
    const outputOf = (books: ReservationRule) => reader(60_000, books).read(raw(question)).cost.outputTokens;
    expect(outputOf('prompt_and_max')).toBe(50);
    expect(outputOf('input_only')).toBe(0);
  });

  it('supposes no more of an output than the limits hold, and leaves a bound as the caller gave it', () => {
    const { max_tokens: _, ...unbounded } = question;
    const guessed = reader().read(raw(unbounded)).cost;
    expect(guessed.inputTokens + guessed.outputTokens).toBe(700);
    expect(reader().read(raw({ ...question, max_tokens: 5_000 })).cost.outputTokens).toBe(5_000);
  });

  it('gives what is to be counted only to a request that no estimate can decide', () => {
    const uncounted = (content: string, changes: object = {}) =>
      reader().read(raw({ ...question, messages: [{ role: 'user', content }], ...changes })).uncounted;
    expect(uncounted('x'.repeat(600))).toBeUndefined();
    expect(uncounted('x'.repeat(10_000))).toBeUndefined();
    expect(uncounted('x', { max_tokens: 5_000 })).toBeUndefined();
    const text = 'x'.repeat(700);
    expect(uncounted(text)).toMatchObject({
      prompt: { texts: [text], besideText: 7, isWhole: true },
      ask: { model: 'chat', inputChars: 700, maxTokens: 50 },
    });
  });

  it('does the same for embeddings, which cost no output', () => {
    const uncounted = (input: unknown) => reader().readEmbedding(raw({ model: 'chat', input })).uncounted;
    expect(uncounted('x'.repeat(700))).toBeUndefined();
    expect(uncounted(Array.from({ length: 800 }, () => 1))).toBeUndefined();
    expect(uncounted(['x'.repeat(350), 'y'.repeat(351)])).toMatchObject({
      prompt: { texts: ['x'.repeat(350), 'y'.repeat(351)], besideText: 0 },
      ask: { rule: 'input_only', inputChars: 701 },
    });
  });

  it.each([
    ['5', 6000],
    ['60', 61_000],
    ['99', 61_000],
    ['0', 1025],
  ])('lets x-weir-max-wait-ms of %s s only lower the longest wait', (seconds, deadline) => {
    const headers = { 'x-weir-max-wait-ms': `${Number(seconds) * 1000}` };
    expect(reader().read(raw(question, headers)).deadline).toBe(deadline);
  });

  it('counts the wait that callers are told and the deadline from one instant, however busy the machine is', () => {
    const fake = new FakeClock(1000);
    const clock: Clock = {
      now: () => {
        fake.jump(fake.now() + 20);
        return fake.now();
      },
      epochNow: () => fake.epochNow(),
    };
    const call = reader(60_000, 'prompt_and_max', clock).read(
      raw(question, { 'x-weir-max-wait-ms': '20000' }),
    );
    expect(call.deadline - call.arrivedAt).toBe(20_000);
  });

  it.each(['nope', 'constructor', '__proto__', 'x'.repeat(10_000)])(
    'knows no model that is not configured: %.20s',
    (model) => {
      expect(() => reader().read(raw({ ...question, model }))).toThrow(
        expect.objectContaining({ code: 'model_not_found', status: 404, param: 'model' }) as Error,
      );
    },
  );
});
