import { seededRandom } from '@weir/kernel';
import { judgeLive } from './judge.js';
import { openLoop } from './open-loop.js';
import { QUOTA_RATE } from './plan.js';
import type { LiveRun } from './run.js';

function failing(run: LiveRun): readonly string[] {
  return judgeLive(run).flatMap(({ claim, holds, measured }) =>
    holds ? [] : [`${claim}: ${measured} (timers ${run.timersLateMs.toFixed(0)} ms late)`],
  );
}

/** A run that keeps every promise, in the smallest numbers. */
function goodRun(): LiveRun {
  const rejected = { requests: 0, tokens: 0, concurrency: 0, daily: 0, fault: 0 };
  const served = { status: 200, code: '', hinted: false, headMs: 30, waitMs: 10, lateMs: -5_000 };
  const calls = ['a', 'b', 'c', 'd', 'e'].map((team) => ({ team, ...served }));
  return {
    plan: { shape: 'sliding', minutes: 1, seed: 1 },
    calls,
    askedMs: (1000 * calls.length) / QUOTA_RATE,
    admitted: calls.length,
    ledger: { received: 5, admitted: 5, completed: 5, aborted: 0, rejected, peakRequests: 5 },
    learned: 'unknown',
    timersLateMs: 1,
  };
}

describe('the judge', () => {
  it('is content with a good run', () => {
    expect(failing(goodRun())).toEqual([]);
  });

  const broken: readonly (readonly [name: string, claim: RegExp, run: LiveRun])[] = [
    [
      'throttled',
      /of 429s/,
      {
        ...goodRun(),
        ledger: {
          ...goodRun().ledger,
          rejected: { ...goodRun().ledger.rejected, requests: 1 },
        },
      },
    ],
    ['idle', /of the quota/, { ...goodRun(), admitted: 4 }],
    ['forgetful', /ledger has every answer/, { ...goodRun(), ledger: { ...goodRun().ledger, completed: 4 } }],
    [
      'late by its own word',
      /granted after its deadline/,
      { ...goodRun(), calls: goodRun().calls.map((call) => ({ ...call, waitMs: 20_001 })) },
    ],
    [
      'late by the provider’s clock',
      /granted after its deadline/,
      { ...goodRun(), calls: goodRun().calls.map((call) => ({ ...call, lateMs: 900 })) },
    ],
    [
      'late at those who wait only',
      /granted after its deadline/,
      {
        ...goodRun(),
        calls: goodRun().calls.map((call) => ({ ...call, headMs: 21_000, waitMs: 20_000, lateMs: 900 })),
      },
    ],
    [
      'silent about when to come back',
      /429 wait_exceeds_deadline/,
      {
        ...goodRun(),
        calls: [
          ...goodRun().calls,
          { ...goodRun().calls[0]!, status: 429, code: 'wait_exceeds_deadline', lateMs: -Infinity },
        ],
      },
    ],
    [
      'unfair',
      /Jain/,
      {
        ...goodRun(),
        calls: [
          ...goodRun().calls,
          ...Array.from({ length: 5 }, () => ({ ...goodRun().calls[0]!, team: 'b' })),
          ...Array.from({ length: 5 }, () => ({
            ...goodRun().calls[0]!,
            status: 429,
            code: 'wait_exceeds_deadline',
            hinted: true,
          })),
        ],
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
