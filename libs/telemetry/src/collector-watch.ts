import type { Clock, EpochMilliseconds, Milliseconds } from '@weir/kernel';
import type { Logger } from './logger.js';

/** What is sent to a collector, each by calls of its own. */
export type Signal = 'traces' | 'metrics';

/** What a watch needs. */
export interface CollectorWatchOptions {
  /** Where exports go; user and query are not logged. */
  readonly endpoint: string;
  readonly clock: Clock;
  readonly logger: Logger | undefined;
}

/** The same trouble is told of again after this: often enough for whoever comes late, too seldom to fill a log. */
const REPEAT_MS: Milliseconds = 600_000;

/**
 * Knows whether the collector takes what it is sent, and tells: one warning when it stops, at most one in ten minutes
 * whatever happens, and one line when all is well again. A try counts as failed when its exporter has given up repeating it.
 */
export class CollectorWatch {
  /** Signals that do not arrive, and since when. */
  private readonly outages = new Map<Signal, EpochMilliseconds>();
  private readonly endpoint: string;
  private lostSpans = 0;
  private saidAt: Milliseconds | undefined;
  /** Since when it fails, where that was told of and nothing better since. */
  private toldSince: string | undefined;

  constructor(private readonly options: CollectorWatchOptions) {
    const { origin, pathname } = new URL(options.endpoint);
    this.endpoint = `${origin}${pathname.replace(/\/+$/, '')}`;
  }

  /** Whether the last try of a signal, or of any, failed. */
  isDown(signal?: Signal): boolean {
    return signal === undefined ? this.outages.size > 0 : this.outages.has(signal);
  }

  /** The collector took something. */
  took(signal: Signal): void {
    if (!this.outages.delete(signal) || this.outages.size > 0) return;
    if (this.toldSince !== undefined)
      this.options.logger?.info('telemetry export works again', {
        endpoint: this.endpoint,
        since: this.toldSince,
        lost_spans: this.lostSpans,
      });
    this.toldSince = undefined;
    this.lostSpans = 0;
  }

  /**
   * It did not, within the time that one export may take.
   * @param error one word, such as a code or a status; never a message, which may quote what somebody sent
   * @param begunAt when the try began
   */
  failed(signal: Signal, error: string, begunAt: EpochMilliseconds): void {
    if (!this.outages.has(signal)) this.outages.set(signal, begunAt);
    const now = this.options.clock.now();
    if (this.saidAt !== undefined && now - this.saidAt < REPEAT_MS) return;
    this.saidAt = now;
    this.toldSince = new Date(Math.min(...this.outages.values())).toISOString();
    this.options.logger?.warn('telemetry export fails', {
      endpoint: `${this.endpoint}/v1/${signal}`,
      error,
      since: this.toldSince,
      loses: 'spans',
      lost_spans: this.lostSpans,
      // They are sums: the next export that arrives has them whole, and /metrics has them now.
      keeps: 'metrics',
    });
  }

  /** Spans are gone for good. */
  lost(spans: number): void {
    this.lostSpans += spans;
  }
}
