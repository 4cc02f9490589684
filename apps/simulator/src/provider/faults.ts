import type { Milliseconds } from '@weir/kernel';

/** A value of JSON. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** One thing that goes wrong, for the next `times` calls that it is meant for. */
export interface Fault {
  readonly times: number;
  readonly model?: string | undefined;
  readonly key?: string | undefined;
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Instead of the model's answer. Text goes out as it is, anything else as JSON. */
  readonly body?: Json | undefined;
  /** An error in the place of frame `frame` (the first is 1), and nothing after it. */
  readonly errorAtFrame?: { readonly frame: number; readonly body: Json } | undefined;
  /** The connection ends after so many bytes of the body. */
  readonly cutAtByte?: number | undefined;
  /** A pause before frame `frame`. */
  readonly stallAtFrame?: { readonly frame: number; readonly ms: Milliseconds } | undefined;
  readonly dripBytesPerSecond?: number | undefined;
  /** The connection is reset once the headers are out. */
  readonly resetAfterHeaders?: boolean | undefined;
  /** A page instead of the model's answer: true for a page of our own. */
  readonly html?: boolean | string | undefined;
}

/** Whether the script speaks in the model's place, so that the call is refused and no quota is asked. */
export function replacesAnswer({ status = 200, body, html }: Fault): boolean {
  return body !== undefined || (html !== undefined && html !== false) || status < 200 || status >= 300;
}

/** The faults that are still to come, in the order in which they were ordered. */
export class FaultScript {
  private queue: { readonly fault: Fault; left: number }[] = [];

  add(faults: readonly Fault[]): void {
    this.queue.push(...faults.map((fault) => ({ fault, left: fault.times })));
  }

  clear(): void {
    this.queue = [];
  }

  /** What is left, for people. */
  pending(): readonly Fault[] {
    return this.queue.map(({ fault, left }) => ({ ...fault, times: left }));
  }

  /** The fault that is meant for this call; it is not used up yet. */
  peek(key: string, model: string): Fault | undefined {
    return this.find(key, model)?.fault;
  }

  /** Uses up one time of the fault that `peek` shows. */
  spend(key: string, model: string): void {
    const entry = this.find(key, model);
    if (!entry) return;
    entry.left -= 1;
    if (entry.left === 0) this.queue = this.queue.filter((other) => other !== entry);
  }

  private find(key: string, model: string) {
    return this.queue.find(({ fault }) => (fault.key ?? key) === key && (fault.model ?? model) === model);
  }
}
