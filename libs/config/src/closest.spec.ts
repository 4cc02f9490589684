import { closest, didYouMean } from './closest.js';

const FIELDS = ['requestsPerMinute', 'tokensPerMinute', 'requestsPerDay', 'concurrency', 'burst', 'id'];

it.each([
  ['requestPerMinute', 'requestsPerMinute'],
  ['requests_per_minute', 'requestsPerMinute'],
  ['tokenPerMinute', 'tokensPerMinute'],
  ['concurency', 'concurrency'],
  ['bursts', 'burst'],
  ['brust', 'burst'],
  ['di', 'id'],
  ['maxTokens', undefined],
  ['', undefined],
])('%s is near %s', (word, candidate) => {
  expect(closest(word, FIELDS)).toBe(candidate);
});

it('says nothing where nothing is near', () => {
  expect(didYouMean('brust', FIELDS)).toBe('; did you mean "burst"?');
  expect(didYouMean('zzzz', FIELDS)).toBe('');
});
