import { StallLog, stalledFrom, stalledIn, unionOf } from './stalls.js';

const STALLS = [
  { from: 100, to: 200 },
  { from: 300, to: 350 },
];

describe('the log of stalls', () => {
  it('notes that the process stood still, also where it still does at the end', () => {
    const log = new StallLog();
    log.start();
    const from = Date.now();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60);
    const [stall, ...others] = log.stop();
    expect(others).toEqual([]);
    expect(stall?.from).toBeLessThanOrEqual(from);
    expect(stall?.to).toBeGreaterThanOrEqual(from + 59);
  });

  it('notes nothing of a process that runs', () => {
    const log = new StallLog();
    log.start();
    expect(log.stop()).toEqual([]);
  });
});

describe('stalls', () => {
  it('of several processes are one time in which not all of them ran', () => {
    expect(unionOf(STALLS, [{ from: 150, to: 250 }], [], [{ from: 250, to: 260 }])).toEqual([
      { from: 100, to: 260 },
      { from: 300, to: 350 },
    ]);
  });

  it.each([
    [0, 100, 0],
    [0, 1_000, 150],
    [150, 310, 60],
    [120, 130, 10],
    [350, 400, 0],
    [120, 110, 0],
  ])('between %i and %i last %i', (from, to, expected) => {
    expect(stalledIn(from, to, STALLS)).toBe(expected);
  });

  it.each([
    ['before them', 0, 100, 0],
    ['into the first', 0, 101, 100],
    ['into both', 150, 101, 100],
    ['that begins in the second', 310, 10, 40],
    ['behind them', 350, 10, 0],
  ])('prolong something %s', (_name, from, runningMs, expected) => {
    expect(stalledFrom(from, runningMs, STALLS)).toBe(expected);
  });
});
