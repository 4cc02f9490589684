import { isSteady, measurementOf, type Spent } from './measure.js';

function spent(answers: number, cpuSeconds: number): Spent {
  return { answers, cpuSeconds, seconds: 1 };
}

describe('windows of a server', () => {
  it('agree where an answer costs about the same, however many there are', () => {
    expect(isSteady(spent(1000, 1), spent(2000, 2.08))).toBe(true);
    expect(isSteady(spent(1000, 1.04), spent(1000, 1))).toBe(true);
  });

  it('do not agree where compilers, or others, were at work in one of them', () => {
    expect(isSteady(spent(1000, 1.06), spent(1000, 1))).toBe(false);
    expect(isSteady(spent(1000, 1), spent(1000, 1.06))).toBe(false);
  });

  it('count together', () => {
    expect(measurementOf(spent(1000, 0.1), spent(3000, 0.5))).toEqual({ answersPerSecond: 2000, cpuUs: 150 });
  });
});
