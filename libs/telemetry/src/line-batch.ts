import type { Milliseconds, Timer, Timers } from '@weir/kernel';

/** Where batches go. */
export interface LineSink {
  write(lines: string): void;
}

/** A batch leaves when it is as long as this, in characters: a pipe of Linux takes 64 KiB at once. */
const BATCH_LENGTH = 60_000;
/** And when its first line is as old as this. */
const BATCH_MS: Milliseconds = 100;

/**
 * Lines that leave together: to hand one to a thread that may wait for a reader costs more than to make it. They are joined in one piece,
 * since a string that grows line by line is read twice by whoever writes it.
 */
export class LineBatch {
  private lines: string[] = [];
  private length = 0;
  private timer: Timer | undefined;

  constructor(
    private readonly sink: LineSink,
    private readonly timers: Timers,
  ) {}

  /** @param line with its line break */
  write(line: string): void {
    this.lines.push(line);
    this.length += line.length;
    if (this.length >= BATCH_LENGTH) this.flush();
    else
      this.timer ??= this.timers.after(BATCH_MS, () => {
        this.flush();
      });
  }

  /** Everything leaves now. */
  flush(): void {
    this.timer?.cancel();
    this.timer = undefined;
    if (this.lines.length === 0) return;
    const lines = this.lines.join('');
    this.lines = [];
    this.length = 0;
    this.sink.write(lines);
  }
}
