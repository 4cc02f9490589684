import { TokenEstimator, type CountRequest, type TokenCounter } from '@weir/limiter';
import { FakeClock } from '@weir/testing';
import type { ChatCall, Uncounted } from './chat-call.js';
import { ExactCost } from './exact-cost.js';

const { signal } = new AbortController();
const gpt4o = { account: 'main', model: 'gpt-4o' };
const gpt4 = { account: 'main', model: 'gpt-4' };
/** At OpenAI itself. */
const guessed = { account: 'openai', model: 'gpt-4o' };
const claude = { account: 'spare', model: 'claude-sonnet-4-5' };

/** A counter that knows the answer, and what it was asked. */
class Oracle implements TokenCounter {
  readonly asked: CountRequest[] = [];
  constructor(private readonly answer: number | undefined) {}
  async count(request: CountRequest): Promise<number | undefined> {
    this.asked.push(request);
    return this.answer;
  }
  async close(): Promise<void> {
    return Promise.resolve();
  }
}

interface Scene {
  readonly targets?: ChatCall['targets'];
  readonly fallback?: ChatCall['fallback'];
  readonly patienceMs?: number;
  readonly isWhole?: boolean;
}

/** A call that is estimated at 1,000 tokens of input, and what becomes of it. */
async function costOf(tokens: number | undefined, scene: Scene = {}) {
  const { targets = [gpt4o], fallback = [], patienceMs = 60_000, isWhole = true } = scene;
  const [clock, oracle] = [new FakeClock(500), new Oracle(tokens)];
  const uncounted: Uncounted = {
    prompt: { texts: ['some', 'text'], besideText: 7, isWhole },
    ask: { model: 'm', template: 't', inputChars: 4_000, maxTokens: 50 },
  };
  const cost = { inputTokens: 1_000, outputTokens: 50 };
  const call = { targets, fallback, cost, deadline: 500 + patienceMs, uncounted } as unknown as ChatCall;
  const counted = await new ExactCost(
    oracle,
    new TokenEstimator(),
    clock,
    (account) => account === 'openai',
  ).of(call, uncounted, signal);
  return { counted, call, asked: oracle.asked[0] };
}

describe('ExactCost', () => {
  it.each([700, 1_400])('reserves the count %s, and what stands around the text', async (tokens) => {
    const { counted, asked } = await costOf(tokens);
    expect(counted.cost).toEqual({ inputTokens: tokens + 7, outputTokens: 50 });
    expect(asked).toMatchObject({ texts: ['some', 'text'], encoding: 'o200k_base' });
  });

  it('counts with the vocabulary of the model that the provider knows', async () => {
    const { counted, asked } = await costOf(1_400, { targets: [gpt4] });
    expect(asked?.encoding).toBe('cl100k_base');
    expect(counted.cost.inputTokens).toBe(1_407);
  });

  it.each<[string, Scene]>([
    ["another maker's model", { targets: [claude] }],
    ["a fallback to another maker's model", { fallback: [claude] }],
    ['a target with another vocabulary', { targets: [gpt4o, gpt4] }],
    ['pictures and tools', { isWhole: false }],
    ['a provider that measures characters itself', { targets: [guessed] }],
    ['a fallback to one', { fallback: [guessed] }],
  ])('takes a count as a second estimate for %s: the lower one counts', async (_, scene) => {
    expect((await costOf(700, scene)).counted.cost.inputTokens).toBe(707);
    expect((await costOf(1_400, scene)).counted.cost.inputTokens).toBe(1_000);
  });

  it('leaves the estimate where nobody could count', async () => {
    const { counted, call } = await costOf(undefined);
    expect(counted.cost).toBe(call.cost);
  });

  it.each([700, undefined])('holds the text no longer, whatever the count (%s)', async (tokens) => {
    expect((await costOf(tokens)).counted.uncounted).toBeUndefined();
  });

  it.each([
    [60_000, 3_000],
    [1_000, 500],
    [25, 12.5],
  ])('of a patience of %s ms it takes %s ms at most', async (patienceMs, withinMs) => {
    expect((await costOf(1, { patienceMs })).asked?.withinMs).toBe(withinMs);
  });
});
