import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import type { Clock, Milliseconds, Timers } from '@weir/kernel';
import type { CollectorWatch, Signal } from './collector-watch.js';

/** What an exporter of the SDK does with a batch. */
export type Export<Batch> = (batch: Batch, done: (result: ExportResult) => void) => void;

/** What a bounded export needs. */
export interface BoundedExportOptions {
  readonly signal: Signal;
  readonly watch: CollectorWatch;
  readonly time: Clock & Timers;
  /** The longest that one export may take, retries included. */
  readonly timeoutMs: Milliseconds;
}

/**
 * The same export, watched, and over in time: the exporter's own limit counts from the connection, so that an address
 * that swallows packets holds it for minutes.
 */
export function boundedExport<Batch>(run: Export<Batch>, options: BoundedExportOptions): Export<Batch> {
  const { signal, watch, time, timeoutMs } = options;
  return (batch, done) => {
    const begunAt = time.epochNow();
    let isOver = false;
    const end = (result: ExportResult): void => {
      if (isOver) return;
      isOver = true;
      timer.cancel();
      const failure = result.code === ExportResultCode.SUCCESS ? undefined : failureOf(result.error);
      done(failure === undefined ? result : { code: ExportResultCode.FAILED, error: failure });
      // Told last, so that what is lost with it is counted.
      if (failure === undefined) watch.took(signal);
      else watch.failed(signal, failure.name, begunAt);
    };
    const timer = time.after(timeoutMs, () => {
      end({ code: ExportResultCode.FAILED, error: new Error(TIMED_OUT) });
    });
    try {
      run(batch, end);
    } catch (thrown) {
      // Else nobody would hear of its end, and whoever sends one at a time would wait for ever.
      end({ code: ExportResultCode.FAILED, error: thrown instanceof Error ? thrown : new Error('unknown') });
    }
  };
}

/** What the exporter's transport says where nobody answers. */
const TIMED_OUT = 'Request timed out';

/**
 * A failure without its message, which may quote what a collector or a proxy answered. Its name becomes the label
 * `error_type`: `ECONNREFUSED`, `http_404`, `overloaded`, `timeout`.
 */
function failureOf(error: Error | undefined): Error {
  const failure = new Error('export failed');
  failure.name = reasonOf(error);
  return failure;
}

function reasonOf(error: Error | undefined): string {
  if (error === undefined) return 'unknown';
  const code: unknown = 'code' in error ? error.code : undefined;
  if (typeof code === 'number') return `http_${code}`;
  if (typeof code === 'string' && code !== '') return code;
  // A status that may be tried again (429, 502, 503, 504) comes without its number.
  if (error.name === 'OTLPExporterError') return 'overloaded';
  return error.message === TIMED_OUT ? 'timeout' : error.name;
}
