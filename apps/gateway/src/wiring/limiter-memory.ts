import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { LimiterSnapshot, PacedLimiter } from '@weir/limiter';
import type { Logger } from '@weir/telemetry';

/**
 * What was spent, kept over a planned restart in a file. Without it a new process supposes that the last window was
 * used up, which is safe and costs up to a window of waiting. The file is good for one start: it is taken away when it
 * is read, so that a later crash cannot bring back a past that looks emptier than it was.
 */
export class LimiterMemory {
  constructor(
    private readonly path: string,
    private readonly logger: Logger,
  ) {}

  /** Before the first call. A file that is missing or broken changes nothing. */
  recall(limiter: Pick<PacedLimiter, 'restore'>): void {
    const text = this.take();
    if (text === undefined) return;
    try {
      const snapshot: unknown = JSON.parse(text);
      if (!isSnapshot(snapshot)) throw new Error('not a snapshot of this version');
      limiter.restore(snapshot);
      this.logger.info('limiter restored', { path: this.path });
    } catch (thrown) {
      this.logger.error('limiter not restored', thrown, { path: this.path });
    }
  }

  /** After the drain, when the last permit has ended. Written whole or not at all. */
  keep(limiter: Pick<PacedLimiter, 'snapshot'>): void {
    try {
      writeFileSync(`${this.path}.new`, JSON.stringify(limiter.snapshot()), { mode: 0o600 });
      renameSync(`${this.path}.new`, this.path);
    } catch (thrown) {
      this.logger.error('limiter not kept', thrown, { path: this.path });
    }
  }

  private take(): string | undefined {
    try {
      const text = readFileSync(this.path, 'utf8');
      rmSync(this.path);
      return text;
    } catch {
      return undefined;
    }
  }
}

function isSnapshot(value: unknown): value is LimiterSnapshot {
  return (
    typeof value === 'object' &&
    value !== null &&
    'version' in value &&
    value.version === 1 &&
    'dimensions' in value
  );
}
