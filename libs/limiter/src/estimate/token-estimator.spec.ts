import { seededRandom, type Random } from '@weir/kernel';
import fc from 'fast-check';
import { OutputSamples } from './output-samples.js';
import { reservation } from './reservation.js';
import { TokenEstimator, type Outcome } from './token-estimator.js';

const RUNS = { numRuns: 1000, seed: 20 };

function outcome(part: Partial<Outcome>): Outcome {
  const usage = { inputTokens: undefined, outputTokens: undefined };
  return { model: 'm', template: 't', inputChars: 0, usage, truncated: false, ...part };
}

function produced(outputTokens: number, truncated = false): Outcome {
  return outcome({ usage: { inputTokens: undefined, outputTokens }, truncated });
}

const exponential = (random: Random, mean: number): number => -mean * Math.log(1 - random.next());

describe('the token estimator', () => {
  it('property 20: never reserves more output than the caller allows', () => {
    const rules = fc.constantFrom('prompt_and_max', 'larger_of_both', 'as_produced', 'input_only');
    const outputs = fc.array(fc.tuple(fc.integer({ min: 1, max: 5000 }), fc.boolean()), { maxLength: 60 });
    const ask = fc.record({
      maxTokens: fc.integer({ min: 1, max: 4096 }),
      n: fc.integer({ min: 1, max: 4 }),
      rule: rules,
    });
    fc.assert(
      fc.property(outputs, ask, fc.nat(1e6), (samples, { maxTokens, n, rule }, inputChars) => {
        const estimator = new TokenEstimator();
        for (const [tokens, cut] of samples) estimator.learn(produced(tokens, cut));
        const cost = estimator.reserve({ model: 'm', template: 't', inputChars, maxTokens, n, rule });
        expect(cost.outputTokens).toBeLessThanOrEqual(maxTokens * n);
        expect(cost.outputTokens).toBeGreaterThanOrEqual(0);
        expect(Number.isInteger(cost.inputTokens)).toBe(true);
      }),
      RUNS,
    );
  });

  it('property 20: what was learned never grows into a request that its limits can never hold', () => {
    const estimator = new TokenEstimator();
    for (let count = 0; count < 30; count += 1) estimator.learn(produced(6_000));
    for (const rule of ['prompt_and_max', 'larger_of_both', 'as_produced'] as const) {
      const ask = { model: 'm', template: 't', inputChars: 4_000, rule };
      const one = estimator.reserve({
        ...ask,
        largest: { tokens: Infinity, inputTokens: Infinity, outputTokens: 5_000 },
      });
      expect(one.outputTokens).toBeLessThanOrEqual(5_000);
      const both = estimator.reserve({
        ...ask,
        largest: { tokens: 4_000, inputTokens: Infinity, outputTokens: Infinity },
      });
      expect(both.inputTokens + both.outputTokens).toBe(4_000);
    }
  });

  it('property 20: converges to the true quantile and mean although many outputs were cut', () => {
    let ratios = 0;
    let naive = 0;
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 50, max: 2000 }), (seed, mean) => {
        const random = seededRandom(seed);
        const [samples, mistaken] = [new OutputSamples(), new OutputSamples()];
        for (let count = 0; count < 200; count += 1) {
          const length = 1 + exponential(random, mean);
          const bound = mean * (1 + 4 * random.next());
          samples.add(Math.min(length, bound), length > bound);
          mistaken.add(Math.min(length, bound), false);
        }
        const truth = 1 + mean * Math.log(10);
        const ratio = (samples.length?.q90 ?? 0) / truth;
        ratios += ratio;
        naive += (mistaken.length?.q90 ?? 0) / truth;
        expect(ratio).toBeGreaterThan(0.6);
        expect(ratio).toBeLessThan(1.7);
        expect((samples.length?.mean ?? 0) / mean).toBeGreaterThan(0.7);
        expect((samples.length?.mean ?? 0) / mean).toBeLessThan(1.4);
      }),
      RUNS,
    );
    expect(ratios / RUNS.numRuns).toBeGreaterThan(0.96);
    expect(ratios / RUNS.numRuns).toBeLessThan(1.06);
    // What would ratchet down: cut outputs taken as whole ones.
    expect(naive / RUNS.numRuns).toBeLessThan(0.9);
  });

  it('property 20: a missing usage block teaches nothing', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 500 }), { maxLength: 40 }), (lengths) => {
        const [taught, spared] = [new TokenEstimator(), new TokenEstimator()];
        for (const length of lengths) {
          taught.learn(produced(length));
          spared.learn(produced(length));
          taught.learn(outcome({ inputChars: 4_000 }));
        }
        const ask = { model: 'm', template: 't', inputChars: 1234, rule: 'as_produced' } as const;
        expect(taught.reserve(ask)).toEqual(spared.reserve(ask));
      }),
      RUNS,
    );
  });

  it('takes a count in the place of its own guess, and supposes what is left of the output', () => {
    const largest = { tokens: 2_000, inputTokens: Infinity, outputTokens: Infinity };
    const ask = { model: 'm', template: 't', inputChars: 40_000, largest };
    expect(new TokenEstimator().reserve(ask)).toEqual({ inputTokens: 10_008, outputTokens: 0 });
    const counted = new TokenEstimator().reserve({ ...ask, counted: 1_500 });
    expect(counted).toEqual({ inputTokens: 1_500, outputTokens: 500 });
  });

  it('learns characters per token per model, and is not led astray by one odd prompt', () => {
    const estimator = new TokenEstimator();
    const input = (model: string, inputChars: number, inputTokens: number) =>
      outcome({ model, inputChars, usage: { inputTokens, outputTokens: undefined } });
    expect(estimator.estimateInput('latin', 4_000)).toBe(1_008);
    for (let count = 0; count < 40; count += 1) estimator.learn(input('han', 1_500, 1_000));
    expect(estimator.estimateInput('han', 1_500)).toBeGreaterThan(930);
    expect(estimator.estimateInput('han', 1_500)).toBeLessThan(1_050);
    expect(estimator.estimateInput('latin', 4_000)).toBe(1_008);
    estimator.learn(input('han', 10, 1_000_000));
    expect(estimator.estimateInput('han', 1_500)).toBeLessThan(1_300);
    expect(estimator.outputOf('latin', 400)).toBe(100);
    expect(estimator.outputOf('latin', 0)).toBe(0);
  });

  it('backs off from template to model to the bound to the default', () => {
    const estimator = new TokenEstimator({ defaultOutput: 300 });
    const reserve = (template: string, maxTokens?: number) =>
      estimator.reserve({ model: 'm', template, inputChars: 0, maxTokens, rule: 'as_produced' }).outputTokens;
    expect(reserve('a')).toBe(300);
    expect(reserve('a', 50)).toBe(50);
    for (let count = 0; count < 19; count += 1) estimator.learn({ ...produced(100), template: 'a' });
    expect(reserve('a', 900)).toBe(900);
    estimator.learn({ ...produced(100), template: 'a' });
    expect(reserve('a', 900)).toBe(100);
    expect(reserve('b')).toBe(100);
    expect(reserve('a', 40)).toBe(40);
  });

  it('remembers no more keys than it may, the recent ones', () => {
    const estimator = new TokenEstimator({ capacity: 10 });
    for (let key = 0; key < 100; key += 1) {
      for (let count = 0; count < 20; count += 1)
        estimator.learn({ ...produced(key + 1), template: `t${key}` });
    }
    expect(estimator.outputLength('m', 't99')).toEqual({ mean: 100, q90: 100 });
    expect(estimator.outputLength('m', 't0')).toEqual(estimator.outputLength('m', 'never seen'));
  });
});

describe('the reservation', () => {
  const facts = {
    inputTokens: 100,
    maxTokens: 500,
    choices: 2,
    learned: { mean: 80, q90: 200 },
    defaultOutput: 1024,
  };

  it('is the formula of the provider', () => {
    expect(reservation('prompt_and_max', facts)).toEqual({ inputTokens: 100, outputTokens: 1000 });
    expect(reservation('larger_of_both', facts)).toEqual({ inputTokens: 100, outputTokens: 900 });
    expect(reservation('as_produced', facts)).toEqual({ inputTokens: 100, outputTokens: 160 });
    expect(reservation('input_only', facts)).toEqual({ inputTokens: 100, outputTokens: 0 });
    expect(reservation('prompt_and_max', { ...facts, maxTokens: undefined })).toMatchObject({
      outputTokens: 400,
    });
    expect(reservation('larger_of_both', { ...facts, inputTokens: 5000 })).toMatchObject({ outputTokens: 0 });
  });
});
