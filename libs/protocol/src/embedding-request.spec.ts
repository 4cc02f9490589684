import { readEmbeddingRequest } from './embedding-request.js';
import { gatewayErrorOf } from './testing/pieces.js';

const read = (json: unknown): ReturnType<typeof readEmbeddingRequest> =>
  readEmbeddingRequest(Buffer.from(JSON.stringify(json)));

describe('readEmbeddingRequest', () => {
  it.each([
    ['a text', 'hello', { texts: ['hello'], characters: 5, tokens: 0 }],
    ['texts', ['hello', 'you', ''], { texts: ['hello', 'you', ''], characters: 8, tokens: 0 }],
    ['tokens', [1, 2, 3], { texts: [], characters: 0, tokens: 3 }],
    ['lists of tokens', [[1, 2], [3]], { texts: [], characters: 0, tokens: 3 }],
  ])('takes %s', (_, input, understood) => {
    expect(read({ model: 'm', input })).toMatchObject({
      model: 'm',
      stream: false,
      choices: 1,
      ...understood,
    });
  });

  it.each<[object, string]>([
    [{ input: 'x' }, 'model'],
    ...[undefined, null, '', [], [[]], [1, 'x'], [1.5], [['x']], {}, 7].map((input): [object, string] => [
      { model: 'm', input },
      'input',
    ]),
  ])('refuses %j', (json, param) => {
    expect(gatewayErrorOf(() => read(json))).toMatchObject({ code: 'invalid_request', param });
  });

  it('says what a body must be', () => {
    expect(gatewayErrorOf(() => readEmbeddingRequest(Buffer.from('{'))).message).toContain(
      '`model` and `input`',
    );
    expect(gatewayErrorOf(() => read([])).message).toContain('JSON object');
  });
});
