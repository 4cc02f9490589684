import fc from 'fast-check';
import { FakeClock } from '@weir/testing';
import { Provider, type Refusal, type RunningCall } from './provider.js';
import type { TallyView } from './tally.js';

const SEED = { seed: 20260102, numRuns: 200 };
const COST = { prompt: 10, output: 20 };

function setUp(): { clock: FakeClock; provider: Provider } {
  const clock = new FakeClock(5000);
  return { clock, provider: new Provider(clock) };
}

function lineOf(provider: Provider, key = 'k', model?: string): TallyView {
  const view = provider.ledger().keys[key];
  const line = model === undefined ? view?.total : view?.models[model];
  if (!line) throw new Error('no such line');
  return line;
}

const STEP = fc.oneof(
  fc.record({ do: fc.constant('call' as const), model: fc.constantFrom('a', 'b'), output: fc.nat(40) }),
  fc.record({ do: fc.constantFrom('complete' as const, 'abort' as const), nth: fc.nat(5) }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.nat(3000) }),
  fc.record({ do: fc.constant('fault' as const) }),
  fc.record({ do: fc.constant('retune' as const), limit: fc.integer({ min: 1, max: 9 }) }),
);
type Step = typeof STEP extends fc.Arbitrary<infer T> ? T : never;

interface Stage {
  readonly clock: FakeClock;
  readonly provider: Provider;
  readonly running: RunningCall[];
}

function play(step: Step, { clock, provider, running }: Stage): void {
  switch (step.do) {
    case 'call': {
      const result = provider.admit('k', step.model, { prompt: 10, output: step.output });
      if (result.outcome === 'admitted') running.push(result);
      break;
    }
    case 'wait':
      clock.advanceSync(step.ms);
      break;
    case 'fault':
      provider.refuse('k', 'b');
      break;
    case 'retune':
      provider.changeQuota({ key: 'k', model: 'b' }, { requestsPerMinute: step.limit });
      break;
    default: {
      const [call] = running.splice(step.nth, 1);
      call?.produce(5);
      call?.[step.do]();
      call?.abort();
    }
  }
}

function expectSound(line: TallyView): void {
  const rejected = Object.values(line.rejected).reduce((sum, count) => sum + count, 0);
  expect(line.received).toBe(line.admitted + rejected);
  expect(line.tokens).toEqual({ prompt: line.completed * 10, completion: line.completed * 5 });
  expect(line.peakRequests).toBeLessThanOrEqual(9);
  expect(line.peakConcurrent).toBeLessThanOrEqual(4);
  expect(line.peakTokens).toBeLessThanOrEqual(400);
}

function started(result: RunningCall | Refusal): RunningCall {
  if (result.outcome === 'refused') throw new Error(`refused: ${result.kind}`);
  return result;
}

function refused(result: RunningCall | Refusal): Refusal {
  if (result.outcome !== 'refused') throw new Error('admitted');
  return result;
}

describe('the ledger', () => {
  it('adds up, whatever happens in whatever order', () => {
    fc.assert(
      fc.property(fc.array(STEP, { maxLength: 150 }), (steps) => {
        const { clock, provider } = setUp();
        provider.changeQuota(
          {},
          { requestsPerMinute: 9, tokensPerMinute: 400, concurrency: 4, windowSeconds: 6 },
        );
        provider.changeQuota({ model: 'a' }, { requestsPerMinute: 5 });
        const running: RunningCall[] = [];
        for (const step of steps) play(step, { clock, provider, running });
        for (const { models, total } of Object.values(provider.ledger().keys)) {
          const lines = Object.values(models);
          for (const line of [total, ...lines]) expectSound(line);
          expect(total.admitted).toBe(total.completed + total.aborted + running.length);
          expect(total.received).toBe(lines.reduce((sum, { received }) => sum + received, 0));
        }
      }),
      SEED,
    );
  });

  it('shows the peak of any window, whatever its phase', () => {
    const { clock, provider } = setUp();
    provider.changeQuota({}, { shape: 'fixed', requestsPerMinute: 3, windowSeconds: 6 });
    clock.advanceSync(900);
    for (let n = 0; n < 3; n++) started(provider.admit('k', 'm', COST)).complete();
    clock.advanceSync(200);
    for (let n = 0; n < 3; n++) started(provider.admit('k', 'm', COST)).complete();
    expect(lineOf(provider).peakRequests).toBe(6);
  });

  it('knows keys and models that nobody configured, each with the default', () => {
    const { provider } = setUp();
    started(provider.admit('new', 'x', COST)).complete();
    expect(lineOf(provider, 'new', 'x')).toEqual(lineOf(provider, 'new'));
    expect(provider.ledger()).toMatchObject({ version: 1, windowSeconds: 60 });
  });

  it('knows a configured key and model before their first call', () => {
    const { provider } = setUp();
    provider.changeQuota({ key: 'k' }, { requestsPerMinute: 3 });
    provider.changeQuota({ key: 'j', model: 'm' }, { requestsPerMinute: 3 });
    provider.changeQuota({ model: 'n' }, { requestsPerMinute: 3 });
    expect(lineOf(provider, 'k').received).toBe(0);
    expect(lineOf(provider, 'j', 'm').received).toBe(0);
    expect(Object.keys(provider.ledger().keys)).toEqual(['k', 'j']);
  });

  it('tells the window that its keys share, else the default one', () => {
    const { provider } = setUp();
    provider.changeQuota({ key: 'k' }, { windowSeconds: 6 });
    provider.refuse('k', 'm');
    expect(provider.ledger().windowSeconds).toBe(6);
    provider.refuse('other', 'm');
    expect(provider.ledger().windowSeconds).toBe(60);
  });

  it('starts anew after a reset, and calls from before it end without a trace', () => {
    const { provider } = setUp();
    const call = started(provider.admit('k', 'm', COST));
    provider.reset();
    call.complete();
    expect(provider.ledger().keys).toEqual({});
  });
});

describe('admission', () => {
  it('takes from all quotas or from none', () => {
    const { provider } = setUp();
    provider.changeQuota({ model: 'full' }, { requestsPerMinute: 0 });
    provider.changeQuota({}, { requestsPerMinute: 1, tokensPerMinute: 30, concurrency: 1 });
    for (let n = 0; n < 5; n++) expect(refused(provider.admit('k', 'full', COST)).kind).toBe('requests');
    expect(provider.admit('k', 'free', COST).outcome).toBe('admitted');
  });

  it('keeps a total for the key and a quota for each model of it', () => {
    const { provider } = setUp();
    provider.changeQuota({ key: 'k' }, { requestsPerMinute: 3 });
    provider.changeQuota({ model: 'a' }, { requestsPerMinute: 2 });
    provider.changeQuota({ key: 'other', model: 'a' }, { requestsPerMinute: 1 });
    const outcomes = (key: string, models: string): string[] =>
      models.split('').map((model) => provider.admit(key, model, COST).outcome.slice(0, 3));
    expect(outcomes('k', 'aaabb')).toEqual(['adm', 'adm', 'ref', 'adm', 'ref']);
    expect(outcomes('other', 'aab')).toEqual(['adm', 'ref', 'adm']);
  });

  it('names the quota that stays full longest, and tells how long', () => {
    const { clock, provider } = setUp();
    provider.changeQuota({}, { requestsPerMinute: 1, tokensPerMinute: 40, windowSeconds: 6 });
    started(provider.admit('k', 'm', COST)).abort();
    clock.advanceSync(1000);
    expect(refused(provider.admit('k', 'm', COST))).toMatchObject({ kind: 'requests', waitMs: 5000 });
    expect(refused(provider.admit('k', 'm', { prompt: 41, output: 0 }))).toMatchObject({
      kind: 'tokens',
      waitMs: Infinity,
    });
  });

  it('holds a slot until the end of the call', () => {
    const { provider } = setUp();
    provider.changeQuota({}, { concurrency: 1 });
    const call = started(provider.admit('k', 'm', COST));
    expect(refused(provider.admit('k', 'm', COST))).toMatchObject({ kind: 'concurrency', used: 1 });
    call.complete();
    expect(provider.admit('k', 'm', COST).outcome).toBe('admitted');
    expect(lineOf(provider)).toMatchObject({ peakConcurrent: 1, rejected: { concurrency: 1 } });
  });

  it('counts days of UTC in real time', () => {
    const { clock, provider } = setUp();
    provider.changeQuota({}, { requestsPerDay: 1, windowSeconds: 1 });
    started(provider.admit('k', 'm', COST)).complete();
    const refusal = refused(provider.admit('k', 'm', COST));
    expect(refusal).toMatchObject({ kind: 'daily', waitMs: 86_400_000 - 5000 });
    clock.advanceSync(refusal.waitMs ?? 0);
    expect(provider.admit('k', 'm', COST).outcome).toBe('admitted');
  });

  it('corrects a reservation at the end, in its place', () => {
    const { clock, provider } = setUp();
    provider.changeQuota({}, { tokensPerMinute: 100, windowSeconds: 6 });
    const call = started(provider.admit('k', 'm', { prompt: 10, output: 90 }));
    clock.advanceSync(1000);
    expect(refused(provider.admit('k', 'm', COST)).kind).toBe('tokens');
    call.produce(20);
    call.complete();
    expect(refused(provider.admit('k', 'm', { prompt: 71, output: 0 }))).toMatchObject({
      used: 30,
      waitMs: 5000,
    });
    expect(provider.admit('k', 'm', { prompt: 70, output: 0 }).outcome).toBe('admitted');
    expect(lineOf(provider).peakTokens).toBe(100);
  });

  it('charges output when it is produced, where the quota says so', () => {
    const { clock, provider } = setUp();
    provider.changeQuota({}, { tokensPerMinute: 100, windowSeconds: 6, charges: 'produced' });
    const call = started(provider.admit('k', 'm', { prompt: 10, output: 90_000 }));
    clock.advanceSync(1000);
    call.produce(90);
    expect(refused(provider.admit('k', 'm', COST))).toMatchObject({ kind: 'tokens', waitMs: 5000 });
    clock.advanceSync(5000);
    expect(started(provider.admit('k', 'm', COST)).standings().tokens).toMatchObject({ remaining: 0 });
  });

  it('lets refused calls count where the quota says so, for ever while they go on', () => {
    const { clock, provider } = setUp();
    provider.changeQuota({}, { requestsPerMinute: 2, windowSeconds: 6, countsRejected: true });
    const outcomes = Array.from({ length: 20 }, () => {
      clock.advanceSync(2000);
      return provider.admit('k', 'm', COST).outcome;
    });
    expect(outcomes.filter((outcome) => outcome === 'admitted')).toHaveLength(2);
    expect(lineOf(provider).peakRequests).toBe(2);
  });
});

describe('a change of quota', () => {
  it('does not forget what was charged', () => {
    const { provider } = setUp();
    for (let n = 0; n < 3; n++) provider.admit('k', 'm', COST);
    provider.changeQuota({ key: 'k' }, { requestsPerMinute: 4 });
    expect(provider.admit('k', 'm', COST).outcome).toBe('admitted');
    expect(refused(provider.admit('k', 'm', COST))).toMatchObject({ limit: 4, used: 4 });
  });

  it('takes a limit away with null', () => {
    const { provider } = setUp();
    provider.changeQuota({}, { requestsPerMinute: 0 });
    expect(refused(provider.admit('k', 'm', COST)).waitMs).toBe(Infinity);
    provider.changeQuota({}, { requestsPerMinute: null });
    expect(provider.admit('k', 'm', COST).outcome).toBe('admitted');
  });

  it('lets a model count in the manner of its key', () => {
    const { provider } = setUp();
    provider.changeQuota({ key: 'k' }, { shape: { quantum: 2 }, windowSeconds: 6, charges: 'produced' });
    provider.changeQuota({ key: 'k', model: 'm' }, { tokensPerMinute: 5 });
    expect(provider.quotas.forModel('k', 'm')).toEqual({
      shape: { quantum: 2 },
      windowSeconds: 6,
      charges: 'produced',
      countsRejected: false,
      tokensPerMinute: 5,
    });
  });
});
