import { FakeClock } from '@weir/testing';
import { CollectorWatch } from './collector-watch.js';
import type { LogFields } from './logger.js';

const MINUTE = 60_000;

function setUp(endpoint = 'http://user:secret@collector:4318/base/?key=secret') {
  const clock = new FakeClock();
  const lines: (readonly [string, string, LogFields])[] = [];
  const noted =
    (level: string) =>
    (event: string, fields: LogFields = {}): void => {
      lines.push([level, event, fields]);
    };
  const logger = { info: noted('info'), warn: noted('warn'), error: () => undefined };
  return { clock, lines, watch: new CollectorWatch({ endpoint, clock, logger }) };
}

describe('CollectorWatch', () => {
  it('says nothing while all is well', () => {
    const { watch, lines } = setUp();
    watch.took('traces');
    watch.took('metrics');
    expect([watch.isDown(), lines]).toEqual([false, []]);
  });

  it('tells of an outage once, whatever fails, and again after ten minutes with what was lost by then', () => {
    const { watch, clock, lines } = setUp();
    const since = new Date(clock.epochNow()).toISOString();
    watch.lost(10);
    watch.failed('traces', 'ECONNREFUSED', clock.epochNow());
    for (let tries = 0; tries < 59; tries += 1) {
      clock.jump(clock.now() + MINUTE / 6);
      watch.lost(1);
      watch.failed(tries % 2 === 0 ? 'metrics' : 'traces', 'timeout', clock.epochNow());
    }
    expect(lines).toHaveLength(1);
    clock.jump(10 * MINUTE);
    watch.failed('metrics', 'timeout', clock.epochNow());
    const kept = { since, loses: 'spans', keeps: 'metrics' };
    const url = 'http://collector:4318/base/v1';
    expect(lines).toEqual([
      [
        'warn',
        'telemetry export fails',
        { ...kept, endpoint: `${url}/traces`, error: 'ECONNREFUSED', lost_spans: 10 },
      ],
      [
        'warn',
        'telemetry export fails',
        { ...kept, endpoint: `${url}/metrics`, error: 'timeout', lost_spans: 69 },
      ],
    ]);
  });

  it('tells when everything arrives again, and what it cost', () => {
    const { watch, clock, lines } = setUp();
    watch.failed('metrics', 'timeout', clock.epochNow());
    watch.failed('traces', 'timeout', clock.epochNow());
    watch.lost(7);
    watch.took('traces');
    expect([watch.isDown('traces'), watch.isDown('metrics'), watch.isDown()]).toEqual([false, true, true]);
    watch.took('metrics');
    watch.took('metrics');
    expect(lines.slice(1)).toEqual([
      [
        'info',
        'telemetry export works again',
        {
          endpoint: 'http://collector:4318/base',
          since: new Date(clock.epochNow()).toISOString(),
          lost_spans: 7,
        },
      ],
    ]);
  });

  it('does not fill the log where a collector comes and goes', () => {
    const { watch, clock, lines } = setUp();
    for (let times = 0; times < 60; times += 1) {
      watch.failed('traces', 'http_503', clock.epochNow());
      watch.took('traces');
      clock.jump(clock.now() + MINUTE / 6);
    }
    expect(lines.map(([level]) => level)).toEqual(['warn', 'info']);
  });
});
