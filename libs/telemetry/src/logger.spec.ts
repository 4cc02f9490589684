import { GatewayError } from '@weir/kernel';
import fc from 'fast-check';
import { pino, stdTimeFunctions } from 'pino';
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

  it('writes lines of words and numbers exactly as pino would', () => {
    jest.useFakeTimers({ now: 1_795_000_000_000 });
    try {
      const ours: string[] = [];
      const theirs: string[] = [];
      const log = createLogger({ service: 'wéir "x"', write: (line) => ours.push(line) });
      const settings = {
        base: { service: 'wéir "x"' },
        timestamp: stdTimeFunctions.isoTime,
        formatters: { level: (level: string) => ({ level }) },
        messageKey: 'event',
      };
      const reference = pino(settings, { write: (line: string) => theirs.push(line) });
      const text = fc.string({ unit: 'binary', maxLength: 60 });
      const value = fc.oneof(text, fc.double(), fc.integer(), fc.boolean(), fc.constantFrom(null, undefined));
      const fields = fc.dictionary(fc.stringMatching(/^f_[a-z_]{1,9}$/), value, { noNullPrototype: true });
      const time = fc.integer({ min: 0, max: 4_000_000_000_000 });
      const property = fc.property(fields, fc.string(), time, (some, event, now) => {
        jest.setSystemTime(now);
        log.info(event, some);
        reference.info(some, event);
        expect(ours.pop()).toBe(theirs.pop());
      });
      fc.assert(property, { seed: 4, numRuns: 1000 });
    } finally {
      jest.useRealTimers();
    }
  });

  it('writes nothing below its level', () => {
    const lines: string[] = [];
    const log = createLogger({ service: 'weir', level: 'warn', write: (line) => lines.push(line) });
    log.info('request', { outcome: 'ok' });
    log.info('request', { nested: { outcome: 'ok' } });
    expect(lines).toEqual([]);
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

  it('comes to an end where an error is its own cause', () => {
    const { lines, log } = setUp();
    const error = new Error(MARK);
    error.cause = new TypeError('other', { cause: error });
    log.error('failed', error);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ error: 'Error', cause: { error: 'TypeError' } });
    expect(lines.join()).not.toContain(MARK);
  });
});
