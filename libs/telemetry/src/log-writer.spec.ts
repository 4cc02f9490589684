import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, systemTimers } from '@weir/kernel';
import { FakeClock } from '@weir/testing';
import { LogWriter } from './log-writer.js';

const LINE = `${'x'.repeat(499)}\n`;
const WRITTEN = 20_000;
/** A tenth of what is written. */
const HELD = 1_000_000;

describe('LogWriter', () => {
  let folder: string;
  let path: string;
  const open: number[] = [];

  function opened(file: string, flags: number): number {
    const fd = openSync(file, flags);
    open.push(fd);
    return fd;
  }

  function pipe(): number {
    execFileSync('mkfifo', [path]);
    return opened(path, constants.O_RDWR | constants.O_NONBLOCK);
  }

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'weir-log-'));
    path = join(folder, 'log');
  });
  afterEach(() => {
    for (const fd of open.splice(0)) closeSync(fd);
    rmSync(folder, { recursive: true });
  });

  it('loses lines instead of memory where nobody reads, and tells how many as soon as somebody does', async () => {
    let lost = 0;
    let received = 0;
    const all = Promise.withResolvers<undefined>();
    const count = (): void => {
      if (received >= (WRITTEN - lost) * LINE.length) all.resolve(undefined);
    };
    const onLost = (lines: number): void => {
      lost += lines;
      count();
    };
    const time = { ...systemClock, ...systemTimers };
    const writer = new LogWriter({ fd: pipe(), heldBytes: HELD, onLost, time });
    for (let number = 0; number < WRITTEN; number += 1) writer.write(LINE);

    const reader = new Socket({ fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK) });
    reader.on('data', (bytes) => {
      received += bytes.length;
      count();
    });
    await all.promise;
    reader.destroy();
    expect(received).toBe((WRITTEN - lost) * LINE.length);
    expect(received).toBeLessThan(2 * HELD);
  });

  it('outlives a full disk, tries again, and ends all the same', async () => {
    const clock = new FakeClock();
    const retries = jest.spyOn(clock, 'after');
    const writer = new LogWriter({
      fd: opened('/dev/full', constants.O_WRONLY),
      heldBytes: HELD,
      onLost: () => undefined,
      time: clock,
    });
    writer.write(LINE);
    for (let tries = 1; tries <= 3; tries += 1) {
      while (retries.mock.calls.length < tries) await new Promise((resolve) => setImmediate(resolve));
      await clock.advance(100);
    }
    writer.end();
    expect(clock.armed).toBe(0);
  });

  it('writes what is left at the end, in order, once', () => {
    const fd = opened(path, constants.O_WRONLY | constants.O_CREAT);
    const time = new FakeClock();
    const writer = new LogWriter({ fd, heldBytes: HELD, onLost: () => undefined, time });
    for (const line of ['a\n', 'b\n', 'ü\n']) writer.write(line);
    writer.end(() => {
      writer.write('last\n');
    });
    writer.write('late\n');
    writer.end();
    // The first is under way, and may arrive after the others.
    expect(readFileSync(path, 'utf8')).toMatch(/b\nü\nlast\n/);
    expect(readFileSync(path, 'utf8')).not.toContain('late');
  });

  it('does not wait at the end for a reader that stands still', async () => {
    const clock = new FakeClock();
    const writer = new LogWriter({ fd: pipe(), heldBytes: HELD, onLost: () => undefined, time: clock });
    writer.write('x'.repeat(HELD));
    await clock.advance(1_001);
    const waits = jest.spyOn(Atomics, 'wait').mockReturnValue('timed-out');
    writer.end();
    expect([waits.mock.calls.length, clock.armed]).toEqual([0, 0]);
    waits.mockRestore();
  });

  it('waits a while at the end for one that may only be slow', () => {
    const waits = jest.spyOn(Atomics, 'wait').mockReturnValue('timed-out');
    const writer = new LogWriter({
      fd: pipe(),
      heldBytes: HELD,
      onLost: () => undefined,
      time: new FakeClock(),
    });
    writer.write('first\n');
    writer.write('x'.repeat(HELD / 2));
    writer.end();
    expect(waits.mock.calls.length).toBeGreaterThan(1);
    waits.mockRestore();
  });
});
