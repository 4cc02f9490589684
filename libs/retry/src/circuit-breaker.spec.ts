import fc from 'fast-check';
import { seededRandom } from '@weir/kernel';
import { CircuitBreaker, type BreakerPolicy, type Passage } from './circuit-breaker.js';

const POLICY: BreakerPolicy = {
  minAttempts: 4,
  failureShare: 0.5,
  windowMs: 10_000,
  openMs: 1_000,
  maxOpenMs: 6_000,
};

function breakerOf(policy: Partial<BreakerPolicy> = {}, seed = 1) {
  return new CircuitBreaker({ ...POLICY, ...policy }, seededRandom(seed));
}

/** One attempt from beginning to end. */
function attempt(breaker: CircuitBreaker, verdict: 'succeeded' | 'failed' | 'none', now: number): void {
  const passage = breaker.enter();
  if (verdict !== 'none') breaker[verdict](passage, now);
  breaker.leave(passage);
}

function opened(policy: Partial<BreakerPolicy> = {}, seed = 1): CircuitBreaker {
  const breaker = breakerOf(policy, seed);
  for (let count = 0; count < 4; count += 1) attempt(breaker, 'failed', 0);
  return breaker;
}

function openUntil(breaker: CircuitBreaker): number {
  return breaker.state.kind === 'open' ? breaker.state.until : NaN;
}

describe('CircuitBreaker', () => {
  it('stays closed below minAttempts and below the share, and opens at it', () => {
    const breaker = breakerOf();
    for (const verdict of ['failed', 'failed', 'failed'] as const) attempt(breaker, verdict, 0);
    expect(breaker.state.kind).toBe('closed');
    for (let count = 0; count < 4; count += 1) attempt(breaker, 'succeeded', 0);
    expect(breaker.state.kind).toBe('closed');
    attempt(breaker, 'failed', 0);
    expect(breaker.state).toEqual({ kind: 'open', until: 1_000 });
    expect(breaker.slots).toBe(0);
  });

  it('forgets what left the window', () => {
    const breaker = breakerOf();
    for (let count = 0; count < 3; count += 1) attempt(breaker, 'failed', 0);
    attempt(breaker, 'failed', 10_001);
    expect(breaker.state.kind).toBe('closed');
  });

  it('takes a success back when its answer breaks, so that a provider that cuts every answer opens it', () => {
    const breaker = breakerOf({ failureShare: 1 });
    for (let count = 0; count < 4; count += 1) {
      const passage = breaker.enter();
      breaker.succeeded(passage, 0);
      breaker.failed(passage, 0);
      breaker.failed(passage, 0);
      breaker.leave(passage);
    }
    expect(breaker.state.kind).toBe('open');
  });

  it('probes with 1, then 2, then 4, and closes', () => {
    const breaker = opened();
    breaker.wake(999);
    expect(breaker.state.kind).toBe('open');
    breaker.wake(1_000);
    for (const probes of [1, 2, 4]) {
      expect(breaker.state).toMatchObject({ kind: 'half_open', probes });
      const round = Array.from({ length: probes }, () => {
        expect(breaker.admits).toBe(true);
        return breaker.enter();
      });
      expect(breaker.admits).toBe(false);
      for (const passage of round) breaker.succeeded(passage, 1_000);
      for (const passage of round) breaker.leave(passage);
    }
    expect(breaker.state.kind).toBe('closed');
    expect(breaker.slots).toBe(Infinity);
  });

  it('believes a probe that breaks after its answer began, in whichever round that is', () => {
    const breaker = opened();
    breaker.wake(1_000);
    const first = breaker.enter();
    breaker.succeeded(first, 1_000);
    expect(breaker.state).toMatchObject({ kind: 'half_open', probes: 2 });
    breaker.failed(first, 1_100);
    expect(breaker.state.kind).toBe('open');
    expect(openUntil(breaker)).toBeGreaterThanOrEqual(1_100 + 2 * POLICY.openMs);
    breaker.leave(first);
    breaker.wake(openUntil(breaker));
    expect(breaker.slots).toBe(1);
  });

  it('lets another one probe for a probe without a verdict', () => {
    const breaker = opened();
    breaker.wake(1_000);
    const first = breaker.enter();
    breaker.leave(first);
    expect(breaker.admits).toBe(true);
    breaker.enter();
    expect(breaker.admits).toBe(false);
  });

  it('does not count attempts from before as probes, nor believe what they tell', () => {
    const breaker = breakerOf();
    const old = [breaker.enter(), breaker.enter()];
    for (let count = 0; count < 4; count += 1) attempt(breaker, 'failed', 0);
    breaker.wake(1_000);
    expect(breaker.slots).toBe(3);
    for (const passage of old) breaker.failed(passage, 1_000);
    expect(breaker.state).toMatchObject({ kind: 'half_open', admitted: 0 });
    for (const passage of old) breaker.leave(passage);
    expect(breaker.slots).toBe(1);
  });

  it('property: every failed probe doubles the open time, jitter upward only, up to the cap', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 1, max: 12 }), (seed, failures) => {
        const breaker = opened({}, seed);
        for (let failed = 1; failed <= failures; failed += 1) {
          const from = openUntil(breaker);
          breaker.wake(from);
          attempt(breaker, 'failed', from);
          const openMs = openUntil(breaker) - from;
          const base = Math.min(POLICY.maxOpenMs, POLICY.openMs * 2 ** failed);
          expect(openMs).toBeGreaterThanOrEqual(base);
          expect(openMs).toBeLessThanOrEqual(Math.min(POLICY.maxOpenMs, 2 * base));
        }
      }),
      { numRuns: 1000, seed: 21 },
    );
  });

  it('property 21 (breaker): attempts without a verdict, as 429s are, never open it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('succeeded', 'none'), { maxLength: 200 }),
        fc.nat({ max: 500 }),
        (verdicts, gapMs) => {
          const breaker = breakerOf({ minAttempts: 1, failureShare: 0.01 });
          verdicts.forEach((verdict, index) => {
            attempt(breaker, verdict, index * gapMs);
          });
          expect(breaker.slots).toBe(Infinity);
        },
      ),
      { numRuns: 1000, seed: 21 },
    );
  });

  it('property 21 (breaker): whatever happens, a round admits exactly its probes, and rounds are 1, 2, 4', () => {
    const step = fc.record({
      act: fc.constantFrom('enter', 'enter', 'succeeded', 'failed', 'leave'),
      pick: fc.nat(),
      afterMs: fc.nat({ max: 800 }),
    });
    let fullRounds = 0;
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), fc.integer(), (steps, seed) => {
        const breaker = opened({ openMs: 100, maxOpenMs: 400 }, seed);
        const underWay: Passage[] = [];
        let now = 0;
        for (const { act, pick, afterMs } of steps) {
          now += afterMs;
          breaker.wake(now);
          const passage = underWay[pick % Math.max(1, underWay.length)];
          if (act === 'enter') {
            expect(breaker.admits).toBe(underWay.length < breaker.slots);
            if (breaker.admits) underWay.push(breaker.enter());
          } else if (act === 'leave') {
            if (passage) breaker.leave(passage);
            underWay.splice(pick % Math.max(1, underWay.length), 1);
          } else if (passage) breaker[act](passage, now);
          const { state } = breaker;
          if (state.kind === 'half_open') {
            expect(state.admitted).toBeLessThanOrEqual(state.probes);
            expect(state.passed).toBeLessThan(state.probes);
            expect([1, 2, 4]).toContain(state.probes);
            if (state.admitted === state.probes && act === 'enter') fullRounds += 1;
            expect(breaker.slots).toBe(underWay.length + state.probes - state.admitted);
          }
        }
      }),
      { numRuns: 1000, seed: 21 },
    );
    expect(fullRounds).toBeGreaterThan(1000);
  });
});
