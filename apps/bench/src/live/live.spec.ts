import { seededRandom } from '@weir/kernel';
import { judgeLive, numbersOf } from './judge.js';
import { openLoop } from './open-loop.js';
import { MAX_WAIT_MS, QUOTA_RATE } from './plan.js';
import { runLive, type LiveRun } from './run.js';
import type { LiveCall } from './undici-callers.js';

const CI_MINUTES = 2;
/** At most ten 429s, whatever the share. */
const CI_THROTTLED = 10;

function failing(run: LiveRun): readonly string[] {
  return judgeLive(run).flatMap(({ claim, holds, measured }) => (holds ? [] : [`${claim}: ${measured}`]));
}

describe('pacing in the running gateway, at twice the quota, shape unknown', () => {
  let runs: readonly LiveRun[];

  beforeAll(async () => {
    runs = await Promise.all([
      runLive({ shape: 'sliding', minutes: CI_MINUTES, seed: 301 }),
      runLive({ shape: 'quantum(1)', minutes: CI_MINUTES, seed: 302 }),
    ]);
  }, 420_000);

  it.each([0, 1])('keeps every promise of shape %i, by the ledger of the provider', (at) => {
    const run = runs[at] ?? fail();
    expect(failing(run)).toEqual([]);
    expect(numbersOf(run).throttled).toBeLessThanOrEqual(CI_THROTTLED);
    expect(run.ledger.received).toBeGreaterThan(0.9 * QUOTA_RATE * CI_MINUTES * 60);
  });
});

function fail(): never {
  throw new Error('it was not run');
}

const ASKED_AT = Date.UTC(2026, 0, 1);
const DEADLINE = ASKED_AT + MAX_WAIT_MS;

const SERVED: Omit<LiveCall, 'team'> = {
  ...{ status: 200, code: '', hinted: false, waitMs: 10 },
  ...{ askedAt: ASKED_AT, receivedAt: ASKED_AT + 12, headAt: ASKED_AT + 30 },
};

const REFUSED: LiveCall = {
  ...{ team: 'a', status: 429, code: 'wait_exceeds_deadline', hinted: true, waitMs: NaN },
  ...{ askedAt: ASKED_AT, receivedAt: NaN, headAt: ASKED_AT + 30 },
};

/** A run that keeps every promise, in the smallest numbers. @param change of every call */
function goodRun(change: Partial<LiveCall> = {}, stood: Partial<LiveRun['stood']> = {}): LiveRun {
  const rejected = { requests: 0, tokens: 0, concurrency: 0, daily: 0, fault: 0 };
  const calls = ['a', 'b', 'c', 'd', 'e'].map((team) => ({ team, ...SERVED, ...change }));
  return {
    plan: { shape: 'sliding', minutes: 1, seed: 1 },
    calls,
    askedMs: (1000 * calls.length) / QUOTA_RATE,
    admitted: calls.length,
    ledger: { received: 5, admitted: 5, completed: 5, aborted: 0, rejected, peakRequests: 5 },
    learned: 'unknown',
    stood: { callers: [], gateway: [], provider: [], ...stood },
  };
}

function withCalls(run: LiveRun, ...more: readonly LiveCall[]): LiveRun {
  return { ...run, calls: [...run.calls, ...more] };
}

/** Behind its deadline at the provider by more than a way takes. */
const LATE = { receivedAt: DEADLINE + 900, waitMs: 20_000 };

describe('the judge', () => {
  const fine: readonly (readonly [name: string, run: LiveRun])[] = [
    ['is good', goodRun()],
    [
      'had a provider that stood still',
      goodRun(LATE, { provider: [{ from: DEADLINE - 1, to: DEADLINE + 800 }] }),
    ],
    [
      'had a gateway that stood still when it was asked',
      goodRun(LATE, { gateway: [{ from: ASKED_AT + 10, to: ASKED_AT + 800 }] }),
    ],
    [
      'refused as soon as the gateway ran again',
      withCalls(goodRun({}, { gateway: [{ from: DEADLINE - 500, to: DEADLINE + 800 }] }), {
        ...REFUSED,
        headAt: DEADLINE + 900,
      }),
    ],
  ];

  it.each(fine)('is content with a run that %s', (_name, run) => {
    expect(failing(run)).toEqual([]);
  });

  const broken: readonly (readonly [name: string, claim: RegExp, run: LiveRun])[] = [
    [
      'throttled',
      /of 429s/,
      {
        ...goodRun(),
        ledger: { ...goodRun().ledger, rejected: { ...goodRun().ledger.rejected, requests: 1 } },
      },
    ],
    ['idle', /of the quota/, { ...goodRun(), admitted: 4 }],
    ['forgetful', /ledger has every answer/, { ...goodRun(), ledger: { ...goodRun().ledger, completed: 4 } }],
    ['late by its own word', /granted after its deadline/, goodRun({ waitMs: 20_001 })],
    ['late by the provider’s clock', /granted after its deadline/, goodRun(LATE)],
    [
      'late because the gateway stood still before it sent',
      /granted after its deadline/,
      goodRun(LATE, { gateway: [{ from: DEADLINE - 1, to: DEADLINE + 800 }] }),
    ],
    [
      'late for longer than the provider stood still',
      /granted after its deadline/,
      goodRun(LATE, { provider: [{ from: DEADLINE - 1_000, to: DEADLINE + 600 }] }),
    ],
    [
      'late although everybody stood still long before',
      /granted after its deadline/,
      goodRun(LATE, {
        gateway: [{ from: ASKED_AT + 1_000, to: ASKED_AT + 2_000 }],
        provider: [{ from: ASKED_AT + 1_000, to: ASKED_AT + 2_000 }],
      }),
    ],
    [
      'late with its refusals',
      /429 wait_exceeds_deadline/,
      withCalls(goodRun(), { ...REFUSED, headAt: DEADLINE + 900 }),
    ],
    [
      'silent about when to come back',
      /429 wait_exceeds_deadline/,
      withCalls(goodRun(), { ...REFUSED, hinted: false }),
    ],
    [
      'unfair',
      /Jain/,
      {
        ...withCalls(
          goodRun(),
          ...Array.from({ length: 5 }, () => ({ team: 'b', ...SERVED })),
          ...Array.from({ length: 5 }, () => REFUSED),
        ),
        ledger: { ...goodRun().ledger, completed: 10 },
      },
    ],
  ];

  it.each(broken)('condemns a run that is %s, and for nothing else', (_name, claim, run) => {
    expect(failing(run)).toEqual([expect.stringMatching(claim)]);
  });
});

describe('the open loop', () => {
  it('asks as often as it is told, whatever the calls do', async () => {
    let asked = 0;
    await openLoop(1000, 300, seededRandom(7), () => {
      asked += 1;
    });
    // Poisson, mean 300: beyond six standard deviations nothing is left to chance.
    expect(asked).toBeGreaterThan(196);
    expect(asked).toBeLessThan(404);
  });
});
