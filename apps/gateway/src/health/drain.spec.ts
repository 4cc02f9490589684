import { FakeClock, settled } from '@weir/testing';
import { OpenAnswers } from '../delivery/open-answers.js';
import { Drain } from './drain.js';

function house() {
  const clock = new FakeClock();
  const answers = new OpenAnswers();
  const begun: number[] = [];
  const drain = new Drain(answers, clock, () => begun.push(clock.now()));
  return { clock, answers, begun, drain };
}

describe('Drain', () => {
  it('takes work until it begins, then refuses it with a time to come back', () => {
    const { drain, begun } = house();
    drain.assertOpen();
    void drain.begin(1000);
    void drain.begin(1000);
    expect(begun).toEqual([0]);
    expect(drain.draining).toBe(true);
    expect(() => {
      drain.assertOpen();
    }).toThrow(
      expect.objectContaining({
        code: 'draining',
        status: 503,
        hintMs: expect.any(Number) as number,
      }) as Error,
    );
  });

  it('is over when the last answer is, and leaves no timer', async () => {
    const { drain, answers, clock } = house();
    const forget = answers.add({ bufferedBytes: 0 });
    const over = drain.begin(10_000);
    await clock.advance(500);
    forget();
    expect(await over).toBe(true);
    await settled();
    expect(clock.armed).toBe(0);
  });

  it('waits no longer than its limit', async () => {
    const { drain, answers, clock } = house();
    answers.add({ bufferedBytes: 0 });
    const over = drain.begin(10_000);
    await clock.advance(10_000);
    expect(await over).toBe(false);
  });
});
