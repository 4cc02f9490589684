import { completionToStream } from './completion-chunks.js';
import { completionFacts } from './completion-facts.js';
import { isRecord } from './json-value.js';
import { mergeUsage, readUsage } from './usage.js';

function choice(delta: object): { text: string; visibleBytes: number; visible: boolean } | undefined {
  const [first] = completionFacts({ choices: [{ index: 0, delta }] }).choices;
  return first && { text: first.text, visibleBytes: first.visibleBytes, visible: first.visible };
}

describe('completionFacts', () => {
  it.each([
    [{ role: 'assistant' }, '', 0, false],
    [{ role: 'assistant', content: '', refusal: null }, '', 0, false],
    [{ content: 'é' }, 'é', 2, true],
    [{ content: null, reasoning_content: 'hm' }, '', 2, true],
    [{ content: '', reasoning: 'hm', reasoning_content: 'hm' }, '', 2, true],
    [{ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] }, '', 2, true],
    [{ content: [{ type: 'text', text: 'a' }, 'b'] }, 'ab', 2, true],
    [{ refusal: 'no' }, '', 2, true],
    [{ tool_calls: [{ index: 0, function: { name: 'f', arguments: '{}' } }] }, '', 3, true],
    [{ tool_calls: [{ id: 'x' }] }, '', 0, true],
    [{ tool_calls: null }, '', 0, false],
    [{ function_call: { name: 'f' } }, '', 1, true],
    [{ audio: { data: 'AA' } }, '', 0, true],
  ])('%j', (delta, text, visibleBytes, visible) => {
    expect(choice(delta)).toEqual({ text, visibleBytes, visible });
  });

  it('tells the usage-only chunk from every other', () => {
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
    expect(completionFacts({ choices: [], usage }).usageOnly).toBe(true);
    expect(completionFacts({ choices: [] }).usageOnly).toBe(false);
    expect(completionFacts({ choices: [{ index: 0, delta: {} }], usage }).usageOnly).toBe(false);
  });

  it('survives nonsense', () => {
    for (const choices of [[null], [3], [{}], [{ delta: 'x' }], [{ index: 'a', delta: { content: {} } }]]) {
      expect(() => completionFacts({ choices })).not.toThrow();
    }
    expect(completionFacts({ candidates: [{ content: { parts: 'x' } }] }).choices).toHaveLength(1);
  });
});

describe('usage', () => {
  it.each([
    [null, undefined],
    [{}, undefined],
    [{ prompt_tokens: 'x' }, undefined],
    [{ prompt_tokens: -1, completion_tokens: 1e308 }, undefined],
    [{ prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }, [5, 2, 7, undefined]],
    // xAI leaves reasoning out of the completion.
    [{ prompt_tokens: 12, completion_tokens: 1, total_tokens: 303 }, [12, 291, 303, undefined]],
    [{ input_tokens: 14, cache_read_input_tokens: 6, output_tokens: 5 }, [20, 5, 25, 6]],
    [
      { promptTokenCount: 8, candidatesTokenCount: 1, thoughtsTokenCount: 4, totalTokenCount: 13 },
      [8, 5, 13, undefined],
    ],
    [{ tokens: { input_tokens: 507, output_tokens: 10 }, cached_tokens: 448 }, [507, 10, 517, 448]],
    [{ prompt_tokens: 9, prompt_tokens_details: { cached_tokens: 4 } }, [9, undefined, undefined, 4]],
  ])('%j', (block, expected) => {
    const usage = readUsage(block);
    expect(
      usage && [usage.inputTokens, usage.outputTokens, usage.totalTokens, usage.cachedInputTokens],
    ).toEqual(expected);
  });

  it('takes the last block, field by field, and never adds', () => {
    const start = readUsage({ input_tokens: 10 });
    const end = readUsage({ output_tokens: 4 });
    expect(end && mergeUsage(start, end)).toMatchObject({
      inputTokens: 10,
      outputTokens: 4,
      totalTokens: 14,
    });
    const first = readUsage({ prompt_tokens: 46, completion_tokens: 1, total_tokens: 47 });
    const last = readUsage({ prompt_tokens: 46, completion_tokens: 3, total_tokens: 49 });
    expect(last && mergeUsage(first, last)).toEqual(last);
  });
});

describe('completionToStream', () => {
  it('keeps text, tools, finish and usage', () => {
    const tool = { id: 't', type: 'function', function: { name: 'f', arguments: '{}' } };
    const message = { role: 'assistant', content: 'hi', tool_calls: [tool] };
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
    const completion = {
      id: 'x',
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
      usage,
    };
    const [first, done] = completionToStream(completion).map((frame) => Buffer.from(frame).toString().trim());
    expect(done).toBe('data: [DONE]');
    const json: unknown = JSON.parse(first?.slice('data: '.length) ?? '');
    expect(json).toEqual({
      id: 'x',
      object: 'chat.completion.chunk',
      choices: [
        {
          index: 0,
          delta: { role: 'assistant', content: 'hi', tool_calls: [{ index: 0, ...tool }] },
          finish_reason: 'tool_calls',
        },
      ],
      usage,
    });
    expect(isRecord(json) && completionFacts(json).choices[0]?.text).toBe('hi');
  });
});
