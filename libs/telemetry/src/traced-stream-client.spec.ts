import { answering, drain, Scene } from '../test/span-scene.js';

const LONGEST = 'm'.repeat(128);

describe('TracedStreamClient', () => {
  async function attributesOf(told: Parameters<typeof answering>[2]): Promise<Record<string, unknown>> {
    const scene = new Scene();
    await drain(await scene.open(answering(scene, undefined, told)));
    return { ...scene.children()[0]?.attributes };
  }

  it('tells names and ids of a provider as they are', async () => {
    expect(
      await attributesOf({ responseModel: LONGEST, responseId: 'gen-1/2:3', finishReason: 'MAX_TOKENS' }),
    ).toMatchObject({
      'gen_ai.response.model': LONGEST,
      'gen_ai.response.id': 'gen-1/2:3',
      'gen_ai.response.finish_reasons': ['MAX_TOKENS'],
    });
  });

  it.each([
    ['may be content', 'Ignore all of that.'],
    ['is longer than a name', `${LONGEST}m`],
    ['is a whole answer', 'x'.repeat(1_000_000)],
    ['breaks a line', 'a\nb'],
    ['is no ASCII', 'M\u00fcnchen'],
  ])('leaves out what a provider has in place of a name where it %s', async (_, text) => {
    const attributes = await attributesOf({ responseModel: text, responseId: text, finishReason: text });
    expect(Object.keys(attributes)).toContain('gen_ai.usage.input_tokens');
    expect(Object.keys(attributes).filter((name) => /response\.(model|id|finish)/.test(name))).toEqual([]);
    expect(JSON.stringify(attributes)).not.toContain(text.slice(0, 100));
  });
});
