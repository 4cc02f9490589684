import { FakeClock } from '@weir/testing';
import { LeftStates } from './left-states.js';

function setUp() {
  const clock = new FakeClock();
  const states = new LeftStates(clock);
  const read = (...now: string[]): Record<string, number> =>
    Object.fromEntries(
      [...states.with(now.map((state) => [state]))].map(({ labels, value }) => [labels?.join() ?? '', value]),
    );
  return { clock, read };
}

describe('LeftStates', () => {
  it('are 0 from the next reading on, for longer than a collector remembers them', () => {
    const { clock, read } = setUp();
    expect(read('a', 'b')).toEqual({ a: 1, b: 1 });
    expect(read('b', 'c')).toEqual({ a: 0, b: 1, c: 1 });
    clock.jump(5 * 60_000);
    expect(read('b')).toEqual({ a: 0, b: 1, c: 0 });
    clock.jump(11 * 60_000);
    expect(read('b')).toEqual({ b: 1 });
  });

  it('may be so again', () => {
    const { read } = setUp();
    read('a');
    read();
    expect(read('a')).toEqual({ a: 1 });
  });
});
