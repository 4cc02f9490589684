import type { Clock, Milliseconds } from '@weir/kernel';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { METRICS } from './metric-names.js';
import type { MetricRegistry } from './metric-registry.js';

/** How busy the process's loop was, and how late its timers. */
export interface LoopReading {
  /** Share of time in which it did something, 0 to 1. */
  readonly utilization: number;
  /** Seconds between two ticks of 10 ms, which 99 of 100 do not exceed; 0.01 where nothing is late. */
  readonly delayP99: number;
}

/** Where that comes from. */
export interface LoopProbe {
  /** Since the last time it was asked. */
  take(): LoopReading;
  stop(): void;
}

const TICK_MS: Milliseconds = 10;
/** Readers of two kinds ask, each at its own times: none of them cuts short what another one sees. */
const LEAST_MS: Milliseconds = 10_000;

/** Gauges of the event loop: a busy one falsifies waits and times to the first frame. */
export class EventLoopMetrics {
  private reading: LoopReading | undefined;
  private takenAt: Milliseconds;

  constructor(
    registry: MetricRegistry,
    private readonly clock: Clock,
    private readonly probe: LoopProbe = systemLoop(),
  ) {
    this.takenAt = clock.now();
    registry.gauge(METRICS.eventLoopUtilization, () => [{ labels: [], value: this.read().utilization }]);
    registry.gauge(METRICS.eventLoopDelay, () => [{ labels: [], value: this.read().delayP99 }]);
  }

  stop(): void {
    this.probe.stop();
  }

  private read(): LoopReading {
    const now = this.clock.now();
    if (this.reading !== undefined && now < this.takenAt + LEAST_MS) return this.reading;
    this.takenAt = now;
    return (this.reading = this.probe.take());
  }
}

function systemLoop(): LoopProbe {
  const delay = monitorEventLoopDelay({ resolution: TICK_MS });
  delay.enable();
  let before = performance.eventLoopUtilization();
  return {
    take: () => {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, before);
      before = now;
      const delayP99 = delay.percentile(99) / 1e9;
      delay.reset();
      return { utilization, delayP99 };
    },
    stop: () => {
      delay.disable();
    },
  };
}
