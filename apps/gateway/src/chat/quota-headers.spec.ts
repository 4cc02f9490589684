import { quotaHeaders } from './quota-headers.js';

describe('quotaHeaders', () => {
  it("speaks OpenAI's names and units", () => {
    const requests = { limit: 60, remaining: 12, resetMs: 48_040 };
    const tokens = { limit: 1000, remaining: 999, resetMs: 60.2 };
    expect(quotaHeaders({ requests, tokens })).toEqual({
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-requests': '12',
      'x-ratelimit-reset-requests': '48.1s',
      'x-ratelimit-limit-tokens': '1000',
      'x-ratelimit-remaining-tokens': '999',
      'x-ratelimit-reset-tokens': '61ms',
    });
  });

  it('says nothing of what nobody limits', () => {
    expect(quotaHeaders({ requests: undefined, tokens: undefined })).toEqual({});
  });
});
