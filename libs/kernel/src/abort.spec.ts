import { getEventListeners } from 'node:events';
import { FakeClock } from '@weir/testing';
import { abortReason, linkAbort, sleep } from './abort.js';

describe('sleep', () => {
  it('waits, and leaves no timer and no listener', async () => {
    const clock = new FakeClock();
    const { signal } = new AbortController();
    let over = false;
    void sleep(100, clock, signal).then(() => (over = true));
    await clock.advance(99);
    expect(over).toBe(false);
    await clock.advance(1);
    expect(over).toBe(true);
    expect(clock.armed).toBe(0);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('ends at once with the reason when aborted, and leaves no timer', async () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const reason = new Error('gone');
    const waiting = sleep(100, clock, controller.signal);
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    expect(clock.armed).toBe(0);
    await expect(sleep(100, clock, controller.signal)).rejects.toBe(reason);
    expect(clock.armed).toBe(0);
  });
});

describe('linkAbort', () => {
  it('follows its parent until unlinked', () => {
    const parent = new AbortController();
    const followed = linkAbort(parent.signal);
    const released = linkAbort(parent.signal);
    released.unlink();
    const reason = new Error('parent');
    parent.abort(reason);
    expect(followed.signal.reason).toBe(reason);
    expect(released.signal.aborted).toBe(false);
    expect(linkAbort(parent.signal).signal.reason).toBe(reason);
  });

  it('aborts alone and keeps no listener on the parent after unlink', () => {
    const parent = new AbortController();
    const link = linkAbort(parent.signal);
    link.abort(new Error('alone'));
    link.unlink();
    expect(link.signal.aborted).toBe(true);
    expect(parent.signal.aborted).toBe(false);
    expect(getEventListeners(parent.signal, 'abort')).toHaveLength(0);
  });
});

describe('abortReason', () => {
  it('is always an Error', () => {
    const controller = new AbortController();
    controller.abort('just text');
    expect(abortReason(controller.signal)).toBeInstanceOf(Error);
    expect(abortReason(undefined)).toBeInstanceOf(Error);
  });
});
