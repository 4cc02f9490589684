import { systemClock, systemTimers } from '@weir/kernel';
import { LineBatch } from './line-batch.js';
import { LogWriter } from './log-writer.js';

/** Some 35,000 lines. */
const HELD_BYTES = 16 * 1024 * 1024;

/** Where lines go. */
export type LogOutput = Pick<LineBatch, 'write' | 'flush'>;

/**
 * Standard output. Lines of requests leave in batches, so that nobody is held up where nobody reads. Warnings and errors leave
 * at once, and so does everything at the process's end.
 * @param onLost told how many lines were lost as soon as somebody reads again
 */
export function standardOutput(onLost: (lines: number) => void): LogOutput {
  const time = { ...systemClock, ...systemTimers };
  const writer = new LogWriter({ fd: 1, heldBytes: HELD_BYTES, onLost, time });
  const batch = new LineBatch(writer, time);
  process.once('exit', () => {
    writer.end(() => {
      batch.flush();
    });
  });
  return batch;
}
