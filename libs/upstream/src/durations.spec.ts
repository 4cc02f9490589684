import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { parseDate, parseReset, parseUnits } from './durations.js';

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

const AT = Date.UTC(2026, 10, 29, 19, 36, 30);
const DATES: readonly (readonly [string, number | undefined])[] = [
  ['Sun, 29 Nov 2026 19:36:30 GMT', AT],
  ['Sunday, 29-Nov-26 19:36:30 GMT', AT],
  ['Sun Nov 29 19:36:30 2026', AT],
  ['2026-11-29T19:36:30', AT],
  ['2026-11-29T19:36:30.500', AT + 500],
  ['2026-11-29 19:36:30', AT],
  ['2026-11-29T19:36:30Z', AT],
  ['2026-11-29T21:36:30+02:00', AT],
  ['2026-11-29T14:36:30-0500', AT],
  ['2026-11-29', Date.UTC(2026, 10, 29)],
  ['soon', undefined],
  ['2026', undefined],
  ['', undefined],
];

it.each(DATES)('date %j → %p', (text, expected) => {
  expect(parseDate(text)).toBe(expected);
});

it.each(['America/New_York', 'Asia/Kolkata'])('dates do not depend on the zone of the process: %s', (TZ) => {
  // Jest's own process cannot change its zone, so another one reads the dates; the source has only types to strip.
  const script = `const { parseDate } = require(${JSON.stringify(join(__dirname, 'durations.ts'))});
    const dates = JSON.parse(process.argv[1]).map((text) => parseDate(text) ?? null);
    console.log(JSON.stringify({ offset: new Date(0).getTimezoneOffset(), dates }));`;
  const texts = JSON.stringify(DATES.map(([text]) => text));
  const said = execFileSync(process.execPath, ['-e', script, texts], { env: { TZ }, encoding: 'utf8' });
  const { offset, dates } = JSON.parse(said) as { offset: number; dates: unknown };
  expect(offset).not.toBe(0);
  expect(dates).toEqual(DATES.map(([, at]) => at ?? null));
});
