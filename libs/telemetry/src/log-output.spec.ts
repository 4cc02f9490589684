import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { logOutput } from './log-output.js';

const LINE = `${'x'.repeat(499)}\n`;
const WRITTEN = 20_000;
/** A tenth of what is written. */
const HELD = 1_000_000;

describe('logOutput', () => {
  let folder: string;
  let fd: number;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'weir-log-'));
    execFileSync('mkfifo', [join(folder, 'log')]);
    fd = openSync(join(folder, 'log'), constants.O_RDWR | constants.O_NONBLOCK);
  });
  afterEach(() => {
    closeSync(fd);
    rmSync(folder, { recursive: true });
  });

  it('loses lines instead of memory where nobody reads, and tells how many as soon as somebody does', async () => {
    let lost = 0;
    let received = 0;
    const all = Promise.withResolvers<undefined>();
    const count = (): void => {
      if (received >= (WRITTEN - lost) * LINE.length) all.resolve(undefined);
    };
    const output = logOutput(
      fd,
      (lines) => {
        lost += lines;
        count();
      },
      HELD,
    );
    for (let number = 0; number < WRITTEN; number += 1) output.write(LINE);
    output.flush();

    const reader = new Socket({
      fd: openSync(join(folder, 'log'), constants.O_RDONLY | constants.O_NONBLOCK),
    });
    reader.on('data', (bytes) => {
      received += bytes.length;
      count();
    });
    await all.promise;
    reader.destroy();
    expect(received).toBe((WRITTEN - lost) * LINE.length);
    expect(received).toBeLessThan(2 * HELD);
  });
});
