import { FakeClock } from '@weir/testing';
import { faultLog } from './fault-log.js';

describe('faultLog', () => {
  it('tells of faults once in ten minutes, whatever comes', async () => {
    const clock = new FakeClock();
    const error = jest.fn();
    const fault = faultLog(clock, { error, warn: () => undefined, info: () => undefined });
    const thrown = new TypeError('no');
    for (let count = 0; count < 100; count += 1) fault(thrown);
    expect(error.mock.calls).toEqual([['telemetry is incomplete', thrown]]);
    await clock.advance(600_000);
    fault(thrown);
    expect(error).toHaveBeenCalledTimes(2);
  });

  it('does without a log', () => {
    expect(() => {
      faultLog(new FakeClock(), undefined)(new Error('no'));
    }).not.toThrow();
  });
});
