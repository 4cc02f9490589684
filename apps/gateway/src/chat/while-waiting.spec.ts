import { FakeClock } from '@weir/testing';
import type { Outgoing } from '../delivery/outgoing.js';
import { whileWaiting, type Patience } from './while-waiting.js';

function harness(changes: Partial<Patience<string>> = {}) {
  const clock = new FakeClock();
  const work = Promise.withResolvers<string>();
  const iterator = whileWaiting(work.promise, { timers: clock, firstMs: 50, everyMs: 100, ...changes });
  const signs: string[] = [];
  const result = (async () => {
    for (;;) {
      const next = await iterator.next();
      if (next.done === true) return next.value;
      signs.push(`${clock.now()} ${textOf(next.value)}`);
    }
  })();
  return { clock, work, iterator, signs, result };
}

function textOf(outgoing: Outgoing): string {
  return 'kind' in outgoing ? 'head' : Buffer.from(outgoing.bytes).toString().trim();
}

describe('whileWaiting', () => {
  it('says nothing while the work is quick', async () => {
    const { clock, work, signs, result } = harness();
    await clock.advance(49);
    work.resolve('done');
    expect(await result).toBe('done');
    expect(signs).toEqual([]);
    expect(clock.armed).toBe(0);
  });

  it('gives a sign of life at first, and then again and again', async () => {
    const head = {
      kind: 'head',
      status: 200,
      contentType: 'text/event-stream',
      contentLength: undefined,
      headers: {},
      source: { bufferedBytes: 0 },
    } as const;
    const { clock, work, signs, result } = harness({ opening: head });
    await clock.advance(260);
    expect(signs).toEqual(['50 head', '50 : waiting', '150 : waiting', '250 : waiting']);
    work.reject(new Error('no'));
    await expect(result).rejects.toThrow('no');
    expect(clock.armed).toBe(0);
  });

  it('hands over what the work brings when its reader has left', async () => {
    const clock = new FakeClock();
    const work = Promise.withResolvers<string>();
    const abandoned: string[] = [];
    const iterator = whileWaiting(work.promise, {
      timers: clock,
      firstMs: 50,
      everyMs: 100,
      abandon: (value) => abandoned.push(value),
    });
    const first = iterator.next();
    await clock.advance(50);
    await first;
    const left = iterator.return('');
    work.resolve('late');
    await left;
    expect(abandoned).toEqual(['late']);
    expect(clock.armed).toBe(0);
  });
});
