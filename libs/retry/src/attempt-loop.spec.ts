import { GatewayError, seededRandom, type CallIdentity, type GatewayErrorDetail } from '@weir/kernel';
import { FakeClock } from '@weir/testing';
import { AttemptLoop, type Course, type RetryPolicy } from './attempt-loop.js';
import type { RetryDecision } from './retry-observer.js';

const identity: CallIdentity = {
  requestId: 'r1',
  team: 'search',
  model: 'm',
  operation: 'chat',
  template: 'none',
  priority: 'normal',
};

const POLICY: RetryPolicy = { maxAttempts: 4, budgetRatio: 0.1, maxHintMs: 60_000 };

const MAIN_ONLY: Course = { account: 'main', avoid: () => false, fallBack: () => false };

function throttled(hintMs?: number): GatewayError {
  return failure('upstream_rate_limited', {
    failure: 'rate_limit_requests',
    ...(hintMs === undefined ? {} : { hintMs }),
  });
}

function failure(code: GatewayError['code'], detail: GatewayErrorDetail): GatewayError {
  return new GatewayError(code, 'no', { origin: 'provider', retryable: true, ...detail });
}

function harness(policy: RetryPolicy = POLICY) {
  const clock = new FakeClock();
  const decisions: RetryDecision[] = [];
  const ended: number[] = [];
  const loop = new AttemptLoop(policy, clock, seededRandom(1), {
    decided: (decision) => {
      decisions.push(decision);
      return () => ended.push(clock.now());
    },
  });
  const run = (
    errors: Error[],
    options: { deadline?: number; signal?: AbortSignal; course?: Course } = {},
  ) => {
    const starts: number[] = [];
    const outcome = loop.run(
      { identity, deadline: options.deadline ?? 600_000 },
      options.course ?? MAIN_ONLY,
      async (number) => {
        starts.push(clock.now());
        const error = errors[number - 1];
        if (error) throw error;
        return number;
      },
      options.signal ?? new AbortController().signal,
    );
    const result = outcome.then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    return { starts, result };
  };
  return { clock, decisions, ended, run };
}

describe('AttemptLoop', () => {
  it('retries a 429 without sleeping: the limiter holds the pause', async () => {
    const { clock, decisions, run } = harness();
    const { starts, result } = run([throttled(200)]);
    await clock.advance(0);
    expect(await result).toEqual({ value: 2 });
    expect(starts).toEqual([0, 0]);
    expect(decisions).toMatchObject([
      { attempt: 1, delayMs: 0, hintMs: 200, source: 'hint', result: 'scheduled' },
    ]);
  });

  it('backs off with full jitter after a connection fault, and never sleeps less than a hint', async () => {
    const { clock, decisions, ended, run } = harness();
    const faults = [
      failure('upstream_unavailable', { failure: 'transient' }),
      failure('upstream_unavailable', { failure: 'overloaded', hintMs: 5000 }),
    ];
    const { starts, result } = run(faults);
    await clock.advance(60_000);
    expect(await result).toEqual({ value: 3 });
    const [first, second] = decisions.map((decision) => decision.delayMs);
    expect(first).toBeLessThan(500);
    expect(second).toBeGreaterThanOrEqual(5000);
    expect(starts[2]).toBeGreaterThanOrEqual((starts[1] ?? 0) + 5000);
    expect(ended).toEqual([starts[1], starts[2]]);
    expect(clock.armed).toBe(0);
  });

  it('gives up after maxAttempts with the last error', async () => {
    const { clock, decisions, run } = harness();
    const errors = [throttled(1), throttled(1), throttled(1), throttled(77)];
    const { starts, result } = run(errors);
    await clock.advance(10);
    expect(await result).toEqual({ error: errors[3] });
    expect(starts).toHaveLength(4);
    expect(decisions.map((decision) => decision.result)).toEqual([
      'scheduled',
      'scheduled',
      'scheduled',
      'exhausted',
    ]);
  });

  it.each([
    ['above maxHintMs', 60_001, 600_000],
    ['beyond the deadline', 5001, 5000],
  ])('refuses at once when the hint is %s', async (_, hintMs, deadline) => {
    const { clock, decisions, run } = harness();
    const error = throttled(hintMs);
    const { starts, result } = run([error], { deadline });
    await clock.advance(0);
    expect(await result).toEqual({ error });
    expect(starts).toHaveLength(1);
    expect(decisions).toMatchObject([{ result: 'deadline', hintMs }]);
  });

  it.each([
    ['not retryable', failure('upstream_rate_limited', { failure: 'quota_exhausted', retryable: false })],
    ['committed', failure('stream_truncated', { failure: 'transient', committed: true })],
    ['the gateway itself', new GatewayError('queue_full', 'full')],
    ['unknown', new TypeError('a bug')],
  ])('never retries what is %s', async (_, error) => {
    const { clock, decisions, run } = harness();
    const { starts, result } = run([error]);
    await clock.advance(120_000);
    expect(await result).toEqual({ error });
    expect(starts).toHaveLength(1);
    expect(decisions).toEqual([]);
  });

  it('leaves no timer and starts no attempt when the caller goes away during the backoff', async () => {
    const { clock, ended, run } = harness();
    const controller = new AbortController();
    const { starts, result } = run(
      [failure('upstream_unavailable', { failure: 'transient', hintMs: 1000 })],
      {
        signal: controller.signal,
      },
    );
    await clock.advance(10);
    expect(clock.armed).toBe(1);
    const gone = new Error('gone');
    controller.abort(gone);
    await clock.advance(0);
    expect(await result).toEqual({ error: gone });
    expect(starts).toHaveLength(1);
    expect(ended).toHaveLength(1);
    expect(clock.armed).toBe(0);
  });

  it('spends the budget on faults but not on 429s', async () => {
    const { clock, decisions, run } = harness({ ...POLICY, maxAttempts: 10 });
    const throttles = run(Array.from({ length: 8 }, () => throttled(1)));
    await clock.advance(100);
    expect(await throttles.result).toEqual({ value: 9 });
    const faults = run(
      Array.from({ length: 8 }, () => failure('upstream_unavailable', { failure: 'transient' })),
    );
    await clock.advance(600_000);
    expect((await faults.result) as object).toHaveProperty('error');
    expect(decisions.slice(8).map((decision) => decision.result)).toEqual([
      'scheduled',
      'scheduled',
      'scheduled',
      'budget_denied',
    ]);
  });

  describe('with several accounts', () => {
    /** Ranks of accounts; every attempt goes to the first of its rank that was not avoided. */
    function courseOf(...ranks: string[][]): Course & { next(): string } {
      let rank = 0;
      let account: string | undefined;
      const avoided = new Set<string>();
      const left = (): string[] => (ranks[rank] ?? []).filter((account) => !avoided.has(account));
      return {
        get account() {
          return account;
        },
        next() {
          account = left()[0] ?? ranks[rank]?.[0] ?? '';
          return account;
        },
        avoid() {
          avoided.add(account ?? '');
          if (left().length > 0) return true;
          avoided.clear();
          return false;
        },
        fallBack() {
          if (rank + 1 >= ranks.length) return false;
          rank += 1;
          return true;
        },
      };
    }

    function walk(course: ReturnType<typeof courseOf>, errors: (Error | undefined)[], policy = POLICY) {
      const clock = new FakeClock();
      const decisions: RetryDecision[] = [];
      const observer = {
        decided: (decision: RetryDecision) => {
          decisions.push(decision);
          return () => undefined;
        },
      };
      const loop = new AttemptLoop(policy, clock, seededRandom(1), observer);
      const called: string[] = [];
      const run = (): Promise<unknown> =>
        loop
          .run(
            { identity, deadline: 600_000 },
            course,
            async (number) => {
              called.push(course.next());
              const error = errors[number - 1];
              if (error) throw error;
              return number;
            },
            new AbortController().signal,
          )
          .catch((thrown: unknown) => thrown);
      return { clock, decisions, called, run };
    }

    const fault = failure('upstream_unavailable', { failure: 'transient' });
    const spent = failure('upstream_rate_limited', { failure: 'quota_exhausted', retryable: false });
    const callersFault = failure('upstream_rejected', { failure: 'invalid_request', retryable: false });

    it('goes to another account at once, without backoff and without the budget', async () => {
      const { clock, decisions, called, run } = walk(courseOf(['a', 'b', 'c']), [fault, fault, undefined]);
      const result = run();
      await clock.advance(0);
      expect(await result).toBe(3);
      expect(called).toEqual(['a', 'b', 'c']);
      expect(decisions.map(({ delayMs, result: what }) => [delayMs, what])).toEqual([
        [0, 'scheduled'],
        [0, 'scheduled'],
      ]);
    });

    it('asks every account whose quota is spent once, then gives up with the provider’s word', async () => {
      const accounts = ['a', 'b', 'c', 'd', 'e', 'f'];
      const { called, run } = walk(
        courseOf(accounts),
        accounts.map(() => spent),
      );
      expect(await run()).toBe(spent);
      expect(called).toEqual(accounts);
    });

    it('falls back when the attempts of the rank are spent, and has as many again there', async () => {
      const errors = Array.from({ length: 7 }, () => fault);
      const { clock, called, run } = walk(courseOf(['a'], ['z']), errors);
      const result = run();
      await clock.advance(60_000);
      expect(await result).toBe(8);
      expect(called).toEqual(['a', 'a', 'a', 'a', 'z', 'z', 'z', 'z']);
    });

    it('never goes elsewhere with the caller’s own fault', async () => {
      const { called, run } = walk(courseOf(['a', 'b'], ['z']), [callersFault]);
      expect(await run()).toBe(callersFault);
      expect(called).toEqual(['a']);
    });

    it('leaves a throttled account to the limiter, unless its hint is too long', async () => {
      const short = walk(courseOf(['a', 'b']), [throttled(100), undefined]);
      expect(await short.run()).toBe(2);
      expect(short.called).toEqual(['a', 'a']);
      const long = walk(courseOf(['a', 'b']), [throttled(POLICY.maxHintMs + 1), undefined]);
      expect(await long.run()).toBe(2);
      expect(long.called).toEqual(['a', 'b']);
    });

    it('keeps a budget for each account that is called', async () => {
      const once = { ...POLICY, budgetRatio: 0, maxAttempts: 9 };
      const { clock, called, run } = walk(
        courseOf(['a'], ['z']),
        Array.from({ length: 20 }, () => fault),
        once,
      );
      const result = run();
      await clock.advance(60_000);
      expect(await result).toBe(fault);
      // The floor of three retries, for each.
      expect(called.filter((account) => account === 'a')).toHaveLength(4);
      expect(called.filter((account) => account === 'z')).toHaveLength(4);
    });
  });
});
