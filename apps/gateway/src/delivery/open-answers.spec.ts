import { settled } from '@weir/testing';
import { OpenAnswers } from './open-answers.js';

describe('OpenAnswers', () => {
  it('counts what is open and what it holds, and forgets once', () => {
    const answers = new OpenAnswers();
    const forget = [answers.add({ bufferedBytes: 3 }), answers.add({ bufferedBytes: 4 })];
    expect([answers.count, answers.bufferedBytes]).toEqual([2, 7]);
    forget[0]?.();
    forget[0]?.();
    expect([answers.count, answers.bufferedBytes]).toEqual([1, 4]);
  });

  it('tells everybody who waits when none is left, at once where none is', async () => {
    const answers = new OpenAnswers();
    await answers.whenIdle();
    const forget = answers.add({ bufferedBytes: 0 });
    let woken = 0;
    for (let n = 0; n < 3; n += 1) void answers.whenIdle().then(() => (woken += 1));
    await settled();
    expect(woken).toBe(0);
    forget();
    await settled();
    expect(woken).toBe(3);
  });
});
