import { FakeClock } from '@weir/testing';
import { LineBatch } from './line-batch.js';

describe('LineBatch', () => {
  const clock = new FakeClock();

  function setUp(): { batch: LineBatch; written: string[] } {
    const written: string[] = [];
    return { batch: new LineBatch({ write: (lines) => written.push(lines) }, clock), written };
  }

  it('lets lines leave together, after a moment', async () => {
    const { batch, written } = setUp();
    batch.write('a\n');
    await clock.advance(60);
    batch.write('b\n');
    expect(written).toEqual([]);
    await clock.advance(40);
    expect(written).toEqual(['a\nb\n']);
    await clock.advance(1000);
    expect(written).toHaveLength(1);
    expect(clock.armed).toBe(0);
  });

  it('does not wait for more where there are many', () => {
    const { batch, written } = setUp();
    const line = `${'x'.repeat(99)}\n`;
    for (let count = 0; count < 600; count += 1) batch.write(line);
    expect(written).toEqual([line.repeat(600)]);
    expect(clock.armed).toBe(0);
  });

  it('makes lines when they leave, in their place, and does not wait for many of them either', () => {
    const { batch, written } = setUp();
    const make = jest.fn(() => 'b\n');
    for (const line of ['a\n', make, 'c\n']) batch.write(line);
    expect(make).not.toHaveBeenCalled();
    batch.flush();
    expect(written).toEqual(['a\nb\nc\n']);
    for (let count = 0; count < 120; count += 1) batch.write(make);
    expect(written[1]).toBe('b\n'.repeat(120));
    expect(clock.armed).toBe(0);
  });

  it('lets no line take the others along that cannot be made', async () => {
    const { batch, written } = setUp();
    const bad = (): string => {
      throw new Error('cannot');
    };
    for (const line of ['a\n', bad, 'c\n']) batch.write(line);
    await clock.advance(100);
    expect(written).toEqual(['a\nc\n']);
    batch.write('d\n');
    batch.flush();
    expect(written[1]).toBe('d\n');
  });

  it('lets everything leave when it is told to, once', () => {
    const { batch, written } = setUp();
    batch.flush();
    batch.write('a\n');
    batch.flush();
    batch.flush();
    expect(written).toEqual(['a\n']);
    expect(clock.armed).toBe(0);
  });
});
