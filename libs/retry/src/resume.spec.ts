import { GatewayError, seededRandom, type CallIdentity, type GatewayErrorDetail } from '@weir/kernel';
import { FakeClock } from '@weir/testing';
import { AttemptLoop, type Course } from './attempt-loop.js';
import type { RetryDecision } from './retry-observer.js';

const identity: CallIdentity = {
  requestId: 'r1',
  team: 'search',
  model: 'm',
  operation: 'chat',
  template: 'none',
  priority: 'normal',
};
const ALONE: Course = { account: 'main', avoid: () => false, fallBack: () => false };

function broken(detail: GatewayErrorDetail = {}): GatewayError {
  return new GatewayError('stream_truncated', 'cut', {
    origin: 'provider',
    failure: 'transient',
    committed: true,
    sent: true,
    ...detail,
  });
}

function harness(course: Course = ALONE, budgetRatio = 1) {
  const clock = new FakeClock();
  const decisions: RetryDecision[] = [];
  const loop = new AttemptLoop({ maxAttempts: 3, budgetRatio, maxHintMs: 60_000 }, clock, seededRandom(1), {
    decided: (decision) => {
      decisions.push(decision);
      return () => undefined;
    },
  });
  const resume = (attempt: number, error: GatewayError, later: readonly GatewayError[] = []) => {
    const starts: [number: number, at: number][] = [];
    const result = loop
      .resume(
        { identity, deadline: 10_000 },
        course,
        {
          broken: { attempt, error },
          attempt: async (number) => {
            starts.push([number, clock.now()]);
            const next = later[starts.length - 1];
            if (next) throw next;
            return number;
          },
        },
        new AbortController().signal,
      )
      .then(
        (value) => ({ value }),
        (thrown: unknown) => ({ thrown }),
      );
    return { starts, result };
  };
  return { clock, decisions, resume };
}

describe('AttemptLoop.resume', () => {
  it('goes on with the next attempt after a backoff, and tells of the break itself', async () => {
    const { clock, decisions, resume } = harness();
    const error = broken();
    const { starts, result } = resume(1, error);
    await clock.advance(1000);
    expect(await result).toEqual({ value: 2 });
    expect(starts.map(([number]) => number)).toEqual([2]);
    expect(decisions).toMatchObject([{ attempt: 1, error, result: 'scheduled' }]);
    expect(clock.armed).toBe(0);
  });

  it.each<[string, number, GatewayErrorDetail, RetryDecision['result']]>([
    ['attempts have run out', 3, {}, 'exhausted'],
    ['the provider wants more time than there is', 1, { hintMs: 10_001 }, 'deadline'],
  ])('throws the break where %s', async (_, attempt, detail, verdict) => {
    const { clock, decisions, resume } = harness();
    const error = broken(detail);
    const { starts, result } = resume(attempt, error);
    await clock.advance(0);
    expect(await result).toEqual({ thrown: error });
    expect(starts).toEqual([]);
    expect(decisions).toMatchObject([{ result: verdict }]);
  });

  it('sleeps the hint of a throttle and pays for it: nothing else makes it wait', async () => {
    const { clock, resume } = harness();
    const { starts, result } = resume(1, broken({ failure: 'rate_limit_requests', hintMs: 2000 }));
    await clock.advance(1999);
    expect(starts).toEqual([]);
    await clock.advance(1000);
    expect(await result).toEqual({ value: 2 });
  });

  it('counts what follows against the same attempts', async () => {
    const { clock, resume } = harness();
    const last = new GatewayError('upstream_unavailable', 'no', {
      origin: 'provider',
      failure: 'transient',
      retryable: true,
    });
    const { starts, result } = resume(1, broken(), [last, last]);
    await clock.advance(5000);
    expect(await result).toEqual({ thrown: last });
    expect(starts.map(([number]) => number)).toEqual([2, 3]);
  });

  it('is denied by the budget of the account as any retry', async () => {
    const { clock, decisions, resume } = harness(ALONE, 0);
    for (let index = 0; index < 4; index += 1) {
      const { result } = resume(1, broken());
      await clock.advance(600);
      await result;
    }
    expect(decisions.map(({ result }) => result)).toEqual([
      'scheduled',
      'scheduled',
      'scheduled',
      'budget_denied',
    ]);
  });

  it('goes to another account of the same rank at once', async () => {
    const { clock, decisions, resume } = harness({ ...ALONE, avoid: () => true });
    const { result } = resume(1, broken());
    await clock.advance(0);
    expect(await result).toEqual({ value: 2 });
    expect(decisions).toMatchObject([{ delayMs: 0, result: 'scheduled' }]);
  });
});
