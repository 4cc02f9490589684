import { GatewayError } from '@weir/kernel';
import { createLogger } from './logger.js';

const MARK = 'SECRET-MARK';

describe('logger', () => {
  function setUp(): { lines: string[]; log: ReturnType<typeof createLogger> } {
    const lines: string[] = [];
    return { lines, log: createLogger({ service: 'weir', write: (line) => lines.push(line) }) };
  }

  it('writes one JSON line with time, level, service and fields', () => {
    const { lines, log } = setUp();
    log.info('request', { request_id: 'r1', outcome: 'ok' });
    log.warn('careful');
    expect(lines.map((line): unknown => JSON.parse(line))).toEqual([
      {
        level: 'info',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string,
        service: 'weir',
        request_id: 'r1',
        outcome: 'ok',
        event: 'request',
      },
      { level: 'warn', time: expect.any(String) as string, service: 'weir', event: 'careful' },
    ]);
  });

  it.each(['authorization', 'apiKey', 'x-api-key', 'messages', 'prompt', 'body'])('censors %s', (field) => {
    const { lines, log } = setUp();
    log.info('x', { [field]: MARK, one: { [field]: MARK }, a: { b: { [field]: MARK } } });
    expect(lines.join()).toContain('[redacted]');
    expect(lines.join()).not.toContain(MARK);
  });

  it('tells where an error came from, and never its message or that of its cause', () => {
    const { lines, log } = setUp();
    const cause = new SyntaxError(`Unexpected token, "${MARK}\nmore ${MARK}" is not valid JSON`);
    log.error('failed', new GatewayError('internal', MARK, { cause }), { request_id: 'r1' });
    log.error('failed', MARK);
    expect(lines.join()).not.toContain(MARK);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 'error',
      error: 'internal',
      request_id: 'r1',
      at: expect.arrayContaining([expect.stringMatching(/^at /)]) as string[],
      cause: { error: 'SyntaxError' },
    });
    expect(JSON.parse(lines[1] ?? '')).toMatchObject({ error: 'string' });
  });
});
