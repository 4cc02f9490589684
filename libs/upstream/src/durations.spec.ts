import { parseReset, parseUnits } from './durations.js';

const NOW = Date.UTC(2026, 7, 18, 12);

it.each([
  ['12ms', 12],
  ['7.44ms', 8],
  ['172.799999ms', 173],
  ['1s', 1000],
  ['7.66s', 7660],
  ['6m0s', 360_000],
  ['2m59.56s', 179_560],
  ['7m12s', 432_000],
  ['1h2m3s', 3_723_000],
  ['0s', 0],
  ['53 seconds', 53_000],
  ['2 minutes', 120_000],
  ['5', undefined],
  ['soon', undefined],
  ['5 parsecs', undefined],
  ['', undefined],
  ['5s later', undefined],
])('units %j → %p', (text, expected) => {
  expect(parseUnits(text)).toBe(expected);
});

it.each([
  ['12.34', 12_340],
  ['37', 37_000],
  ['2m59.56s', 179_560],
  ['2026-08-18T12:00:59Z', 59_000],
  ['2026-08-18 12:01:00 UTC', 60_000],
  [String(NOW / 1000 + 7), 7000],
  [String(NOW + 7), 7],
  ['-1', undefined],
  ['', undefined],
])('reset %j → %p', (text, expected) => {
  expect(parseReset(text, NOW)).toBe(expected);
});
