import { vocabularyOf } from './vocabulary.js';

describe('vocabularyOf', () => {
  it.each([
    'gpt-4o',
    'gpt-4o-mini-2024-07-18',
    'gpt-4.1-nano',
    'gpt-5.2',
    'o1',
    'o3-mini',
    'gpt-oss-120b',
    'openai/gpt-4o',
    'ft:gpt-4o-mini-2024-07-18:acme::abc',
    'GPT-4o',
  ])('knows %s as one with the newer vocabulary', (model) => {
    expect(vocabularyOf(model)).toEqual({ encoding: 'o200k_base', isOwn: true });
  });

  it.each([
    'gpt-4',
    'gpt-4-0613',
    'gpt-4-turbo-2024-04-09',
    'gpt-3.5-turbo',
    'gpt-35-turbo-16k',
    'text-embedding-3-large',
    'text-embedding-ada-002',
    'openai/gpt-3.5-turbo',
  ])('knows %s as one with the older vocabulary', (model) => {
    expect(vocabularyOf(model)).toEqual({ encoding: 'cl100k_base', isOwn: true });
  });

  it.each([
    'gemini-2.5-pro',
    'claude-sonnet-4-5',
    'meta-llama/Llama-3.3-70B',
    'my-deployment',
    'gpt-2',
    'o200',
    '',
  ])('claims no knowledge of %s', (model) => {
    expect(vocabularyOf(model)).toEqual({ encoding: 'o200k_base', isOwn: false });
  });
});
