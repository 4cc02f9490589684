import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { Fault } from '@weir/config';
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
      writeFileSync(nextTo(this.path), JSON.stringify(limiter.snapshot()), { mode: 0o600 });
      renameSync(nextTo(this.path), this.path);
    } catch (thrown) {
      this.logger.error('limiter not kept', thrown, { path: this.path, reason: codeOf(thrown) });
    }
  }

  private take(): string | undefined {
    try {
      const text = readFileSync(this.path, 'utf8');
      rmSync(this.path);
      return text;
    } catch (thrown) {
      const reason = codeOf(thrown);
      if (reason !== 'ENOENT') this.logger.error('limiter not restored', thrown, { path: this.path, reason });
      return undefined;
    }
  }
}

/**
 * Tried at the start, because the end is too late to learn that nothing can be kept: writes beside `path` what `keep`
 * will write, and takes it away again.
 * @param path as `WEIR_STATE_FILE` has it; nothing is tried where it is unset or empty
 */
export function stateFileFaults(path: string | undefined): readonly Fault[] {
  if (!path) return [];
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [unusable(path, 'EISDIR')];
    // Not the file that another process, which is about to end, may be writing.
    const trial = `${nextTo(path)}.${process.pid}`;
    writeFileSync(trial, '', { mode: 0o600 });
    rmSync(trial);
    return [];
  } catch (thrown) {
    return [unusable(path, codeOf(thrown))];
  }
}

function unusable(path: string, reason: string | undefined): Fault {
  const allowed = 'a file in a folder that exists and may be written to';
  return { path: 'WEIR_STATE_FILE', value: `${JSON.stringify(path)} (${reason ?? 'unknown'})`, allowed };
}

/** Where the new file is written before it takes the place of the old one. */
function nextTo(path: string): string {
  return `${path}.new`;
}

/** The system's word for what went wrong, such as `ENOENT`; undefined where it was not the system. */
function codeOf(thrown: unknown): string | undefined {
  const isNamed = typeof thrown === 'object' && thrown !== null && 'code' in thrown;
  return isNamed && typeof thrown.code === 'string' ? thrown.code : undefined;
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
