import { eventually, pause } from './house.js';
import { send } from './http-caller.js';
import { readMetrics, sumOf } from './metrics-reading.js';
import type { MixedCallers } from './mixed-callers.js';
import { ADMIN_KEY } from './mixed-config.js';
import { running, type SimulatorControl } from './simulator-control.js';

/** Spans leave every half second; one that waits for longer is not on its way. */
const SPANS_LEAVE_MS = 2_000;

/** The longest that the last of them may take; a test that waits for it in vain fails by what it sees then. */
const HANG_MS = 60_000;

/** Who takes the spans and metrics, and can be gone for a while. */
export interface Collector {
  stop(): Promise<void>;
  /** Listens again where it listened before. */
  start(): Promise<void>;
}

/** Everybody who takes part in a mixed run; the gateway listens at `url`, with the configuration of mixed-config.ts. */
export class MixedHouse {
  constructor(
    readonly url: string,
    readonly sim: SimulatorControl,
    readonly callers: MixedCallers,
    readonly collector: Collector,
  ) {}

  /** Every request that its caller counted is counted in the gateway, too, and the provider has no call open. */
  async everythingEnded(): Promise<void> {
    await eventually(
      () => readMetrics(this.url),
      (read) =>
        sumOf(read, 'weir_requests_total') >= this.callers.total && sumOf(read, 'weir_inflight') === 0,
      HANG_MS,
    );
    const calls = await eventually(
      () => this.sim.total(),
      (tally) => running(tally) === 0,
      HANG_MS,
    );
    expect(running(calls)).toBe(0);
  }

  /** No span waits for its export, and none was under way for a while. */
  async spansLeft(): Promise<void> {
    const processed = new Set<number>();
    await eventually(
      async () => {
        await pause(SPANS_LEAVE_MS);
        const read = await readMetrics(this.url);
        const count = sumOf(read, 'otel_sdk_processor_span_processed_total');
        const stands = processed.has(count);
        processed.add(count);
        return stands && sumOf(read, 'otel_sdk_processor_span_queue_size') === 0;
      },
      (left) => left,
      HANG_MS,
    );
  }

  /** Requests that wait for room. */
  async waiting(): Promise<number> {
    const { json } = await send(`${this.url}/admin/v1/status`, {
      headers: { authorization: `Bearer ${ADMIN_KEY}` },
    });
    return (json as { limiter: { waiting: number } }).limiter.waiting;
  }
}
