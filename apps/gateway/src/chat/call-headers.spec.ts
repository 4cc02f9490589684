import { readCallHeaders } from './call-headers.js';

describe('readCallHeaders', () => {
  it('has a default for everything', () => {
    expect(readCallHeaders({})).toEqual({
      conversation: undefined,
      template: 'none',
      priority: 'normal',
      maxWaitMs: undefined,
    });
  });

  it('reads what is there', () => {
    const headers = {
      'x-conversation-id': 'c/1:u',
      'x-prompt-template': 'FAQ_v2.1-a',
      'x-weir-priority': 'low',
      'x-weir-max-wait-ms': '0',
    };
    expect(readCallHeaders(headers)).toEqual({
      conversation: 'c/1:u',
      template: 'FAQ_v2.1-a',
      priority: 'low',
      maxWaitMs: 0,
    });
  });

  it.each([
    ['x-conversation-id', ''],
    ['x-conversation-id', 'two words'],
    ['x-conversation-id', 'x'.repeat(257)],
    ['x-prompt-template', ''],
    ['x-prompt-template', 'a b'],
    ['x-prompt-template', 'x'.repeat(65)],
    ['x-weir-priority', 'urgent'],
    ['x-weir-priority', 'HIGH'],
    ['x-weir-max-wait-ms', '-1'],
    ['x-weir-max-wait-ms', '1.5'],
    ['x-weir-max-wait-ms', '1e3'],
    ['x-weir-max-wait-ms', ''],
    ['x-weir-max-wait-ms', '99999999999'],
  ])('refuses %s: %j, naming the header and what is allowed', (name, value) => {
    expect(() => readCallHeaders({ [name]: value })).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        param: name,
        message: expect.stringContaining(name) as string,
      }) as Error,
    );
  });
});
