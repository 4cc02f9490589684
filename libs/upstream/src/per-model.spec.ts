import { isPerModel } from './classify-failure.js';
import { readRefusal } from './refusal.js';

function about(httpStatus: number, error: object): boolean {
  const body = Buffer.from(JSON.stringify({ error }));
  return isPerModel(readRefusal({ httpStatus, headers: { 'content-type': 'application/json' }, body }));
}

describe('isPerModel', () => {
  it.each([
    [
      'a day of one model at OpenAI',
      429,
      {
        message:
          'Rate limit reached for gpt-4o in organization org-1 on requests per day (RPD): Limit 200, Used 200',
        code: 'rate_limit_exceeded',
      },
    ],
    [
      'a day of one model at Groq',
      429,
      {
        message: 'Rate limit reached for model `llama` in organization `o` on tokens per day (TPD): Limit 1',
      },
    ],
    [
      'Google, by the id of the quota',
      429,
      {
        status: 'RESOURCE_EXHAUSTED',
        details: [{ violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel-FreeTier' }] }],
      },
    ],
    ['a model that a project may not use', 403, { message: 'Project `p` does not have access to model `m`' }],
  ])('is true for %s', (_, status, error) => {
    expect(about(status, error)).toBe(true);
  });

  it.each([
    ['money', 429, { message: 'You exceeded your current quota', code: 'insufficient_quota' }],
    ['credit', 402, { message: 'Rate limit reached for x in organization o' }],
    ['a refused key', 401, { message: 'Incorrect API key provided', code: 'invalid_api_key' }],
  ])('is false for %s', (_, status, error) => {
    expect(about(status, error)).toBe(false);
  });
});
