import { seededRandom } from '@weir/kernel';
import { FakeClock } from '@weir/testing';
import { GatheredSpans } from './gathered-spans.js';
import { SpanRecorder, type SpanSink } from './span-recorder.js';

describe('GatheredSpans', () => {
  function setUp(): {
    told: string[];
    faults: string[];
    gathered: GatheredSpans;
    clock: FakeClock;
    end: (name: string) => void;
  } {
    const clock = new FakeClock();
    const told: string[] = [];
    const faults: string[] = [];
    const sink = (which: string): SpanSink => ({
      ended: ({ name }) => {
        if (which === 'one' && name === 'bad') throw new Error('one cannot take it');
        told.push(`${which} ${name}`);
      },
    });
    const gathered = new GatheredSpans([sink('one'), sink('two')], clock, (thrown) => {
      faults.push((thrown as Error).message);
    });
    const recorder = new SpanRecorder({ clock, random: seededRandom(1), sinks: [gathered], exportRatio: 1 });
    const end = (name: string): void => {
      recorder.start(name, { parent: undefined }).end();
    };
    return { told, faults, gathered, clock, end };
  }

  it('tells each sink of all of them, in order, after a moment', async () => {
    const { told, clock, end } = setUp();
    end('a');
    await clock.advance(60);
    end('b');
    expect(told).toEqual([]);
    await clock.advance(40);
    expect(told).toEqual(['one a', 'one b', 'two a', 'two b']);
    expect(clock.armed).toBe(0);
  });

  it('does not wait where there are many', () => {
    const { told, clock, end } = setUp();
    for (let count = 0; count < 255; count += 1) end('x');
    expect(told).toEqual([]);
    end('x');
    expect(told).toHaveLength(512);
    expect(clock.armed).toBe(0);
  });

  it('keeps nothing back from whoever flushes', async () => {
    const { told, gathered, clock, end } = setUp();
    gathered.flush();
    end('a');
    gathered.flush();
    expect(told).toEqual(['one a', 'two a']);
    expect(clock.armed).toBe(0);
    await clock.advance(1_000);
    expect(told).toHaveLength(2);
  });

  it('makes the spans of what is over when it flushes, in order, and hands them on with the others', async () => {
    const { told, gathered, clock, end } = setUp();
    gathered.add({
      tell: () => {
        end('wait');
      },
    });
    end('attempt');
    gathered.add({
      tell: () => {
        end('refund');
      },
    });
    expect(told).toEqual([]);
    await clock.advance(100);
    expect(told).toEqual(
      ['one', 'two'].flatMap((sink) => [`${sink} attempt`, `${sink} wait`, `${sink} refund`]),
    );
    expect(clock.armed).toBe(0);
  });

  it('does not wait where much is over, whatever it is', () => {
    const { told, gathered, clock, end } = setUp();
    let count = 0;
    for (let number = 0; number < 128; number += 1) {
      end('x');
      gathered.add({ tell: () => (count += 1) });
    }
    expect(count).toBe(128);
    expect(told).toHaveLength(256);
    expect(clock.armed).toBe(0);
  });

  it('loses nothing but what could not be told, and lets nobody else feel it', async () => {
    const { told, faults, gathered, clock, end } = setUp();
    gathered.add({
      tell: () => {
        throw new Error('cannot');
      },
    });
    gathered.add({
      tell: () => {
        end('wait');
      },
    });
    // From a timer it would end the process, and from a grant it would keep the permit.
    await clock.advance(100);
    expect(told).toEqual(['one wait', 'two wait']);
    expect(faults).toEqual(['cannot']);
  });

  it('tells a sink that throws of the others, and other sinks of all', () => {
    const { told, faults, gathered, end } = setUp();
    for (const name of ['a', 'bad', 'b']) end(name);
    gathered.flush();
    expect(told).toEqual(['one a', 'one b', 'two a', 'two bad', 'two b']);
    expect(faults).toEqual(['one cannot take it']);
    end('c');
    gathered.flush();
    expect(told.slice(-2)).toEqual(['one c', 'two c']);
  });
});
