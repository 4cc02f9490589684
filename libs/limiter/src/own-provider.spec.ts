import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { drive } from './testing/own-provider.js';

const ROOT = join(__dirname, '../../..');

describe('the program of docs/limiter.md', () => {
  it('stands there as it is', () => {
    const manual = readFileSync(join(ROOT, 'docs/limiter.md'), 'utf8');
    expect(manual).toContain(readFileSync(join(__dirname, 'testing/own-provider.ts'), 'utf8'));
  });

  it('is never refused where the limit is right, and takes two minutes for two minutes of quota', async () => {
    const { calls, refusals, seconds } = await drive(120, 60);
    expect([calls, refusals]).toEqual([120, 0]);
    expect(seconds).toBeGreaterThanOrEqual(115);
    expect(seconds).toBeLessThanOrEqual(125);
  });

  it('stays close to the quota where the limit is wrong by a half', async () => {
    const { calls, refusals } = await drive(240, 90);
    expect(calls).toBe(240 + refusals);
    expect(refusals).toBeGreaterThan(0);
    expect(refusals).toBeLessThan(30);
  });
});
