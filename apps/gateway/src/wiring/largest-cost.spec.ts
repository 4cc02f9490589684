import { loadConfig } from '@weir/config';
import { largestCost } from './largest-cost.js';

const TEXT = `
accounts:
  - id: main
    baseUrl: https://x
    apiKey: k
    limits: { requestsPerMinute: 60, tokensPerMinute: 6000, shape: { bucket: 6 } }
    models:
      small: { limits: { requestsPerMinute: 60, inputTokensPerMinute: 2400, outputTokensPerMinute: 1200, shape: { quantum: 2 } } }
      large: {}
teams:
  - { id: all, keys: ['sha256:${'1'.repeat(64)}'] }
  - { id: few, keys: ['sha256:${'2'.repeat(64)}'], limits: { tokensPerMinute: 500 } }
`;

describe('largestCost', () => {
  it.each([
    ['all', 'large', { tokens: 600, inputTokens: Infinity, outputTokens: Infinity }],
    ['all', 'small', { tokens: 600, inputTokens: 80, outputTokens: 40 }],
    ['few', 'large', { tokens: 500, inputTokens: Infinity, outputTokens: Infinity }],
  ])('of team %s at model %s is the least of what its limits hold at once', (team, model, cost) => {
    const config = loadConfig({ WEIR_CONFIG: 'f' }, () => TEXT);
    expect(largestCost(config, team, { account: 'main', model })).toEqual(cost);
  });
});
