import { loadConfig } from '@weir/config';
import { presumedOutput } from './presumed-output.js';

function presumed(limits: string): number {
  const account = `{ id: main, baseUrl: https://x, apiKey: k, models: { m: ${limits} } }`;
  const text = `accounts: [${account}]\nteams: [{ id: t, keys: ['sha256:${'1'.repeat(64)}'] }]`;
  return presumedOutput(loadConfig({ WEIR_CONFIG: 'f' }, () => text));
}

describe('presumedOutput', () => {
  it.each([
    ['{}', 1024],
    ['{ limits: { tokensPerMinute: 1000000 } }', 1024],
    ['{ limits: { tokensPerMinute: 1000 } }', 125],
    ['{ limits: { requestsPerMinute: 60, tokensPerMinute: 6000, shape: { bucket: 8 } } }', 100],
    ['{ limits: { outputTokensPerMinute: 4 } }', 1],
    ['{ limits: { inputTokensPerMinute: 8 } }', 1024],
  ])('under %s is %i tokens', (limits, tokens) => {
    expect(presumed(limits)).toBe(tokens);
  });
});
