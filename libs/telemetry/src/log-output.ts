import { systemTimers } from '@weir/kernel';
import { pino } from 'pino';
import { LineBatch } from './line-batch.js';

/** What waits for a reader that does not read, in characters: some 35,000 lines. Beyond that lines are lost, and not memory. */
const HELD_LENGTH = 16 * 1024 * 1024;

/** Where lines go. */
export type LogOutput = Pick<LineBatch, 'write' | 'flush'>;

/**
 * Lines of requests leave in batches, so that nobody is held up where nobody reads. Warnings and errors leave at once, and
 * so does everything at the process's end.
 * @param fd such as 1, standard output
 * @param onLost told how many lines were lost as soon as somebody reads again
 */
export function logOutput(
  fd: number,
  onLost: (lines: number) => void,
  heldLength: number = HELD_LENGTH,
): LogOutput {
  const destination = pino.destination({ dest: fd, sync: false, maxLength: heldLength });
  const batch = new LineBatch(destination, systemTimers);
  let lost = 0;
  destination.on('drop', (lines: string) => {
    lost += lines.split('\n').length - 1;
  });
  destination.on('drain', () => {
    const lines = lost;
    lost = 0;
    if (lines > 0) onLost(lines);
  });
  process.once('exit', () => {
    batch.flush();
    destination.flushSync();
  });
  return batch;
}
