import { seededRandom } from './random.js';

describe('seededRandom', () => {
  it('repeats itself for a seed, differs between seeds, and stays in [0, 1)', () => {
    const take = (seed: number) => {
      const random = seededRandom(seed);
      return Array.from({ length: 1000 }, () => random.next());
    };
    expect(take(7)).toEqual(take(7));
    expect(take(7)).not.toEqual(take(8));
    expect(take(7).every((value) => value >= 0 && value < 1)).toBe(true);
    const mean = take(7).reduce((sum, value) => sum + value, 0) / 1000;
    expect(Math.abs(mean - 0.5)).toBeLessThan(0.05);
  });
});
