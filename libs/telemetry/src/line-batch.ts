import type { Milliseconds, Timer, Timers } from '@weir/kernel';

/** Where batches go. */
export interface LineSink {
  write(lines: string): void;
}

/** A batch leaves when it is as long as this, in characters: a pipe of Linux takes 64 KiB at once. */
const BATCH_LENGTH = 60_000;
/** And when its first line is as old as this. */
const BATCH_MS: Milliseconds = 100;

/** A line with its line break, or what makes it when it leaves. */
export type Line = string | (() => string);

/** How long lines that are still to be made are taken to be, in characters: those of requests are about this long. */
const USUAL_LENGTH = 500;

/**
 * Lines that leave together: to hand one to a thread that may wait for a reader costs more than to make it. They are joined in one piece,
 * since a string that grows line by line is read twice by whoever writes it. To make them together costs a fraction of what it
 * costs to make one between two requests.
 */
export class LineBatch {
  private lines: Line[] = [];
  private length = 0;
  private timer: Timer | undefined;

  constructor(
    private readonly sink: LineSink,
    private readonly timers: Timers,
  ) {}

  write(line: Line): void {
    this.lines.push(line);
    this.length += typeof line === 'string' ? line.length : USUAL_LENGTH;
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
    const { lines } = this;
    this.lines = [];
    this.length = 0;
    this.sink.write(lines.map(textOf).join(''));
  }
}

/** What a line says: nothing where it cannot be made, for those beside it shall not go with it. */
export function textOf(line: Line): string {
  if (typeof line === 'string') return line;
  try {
    return line();
  } catch {
    return '';
  }
}
