import { AsyncLocalStorage } from 'node:async_hooks';
import { Client, errors, type Dispatcher } from 'undici';
import type { AnswerIntake } from './answer-intake.js';
import type { Headers } from './refusal.js';

type IncomingHeaders = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

/** Hands undici's callbacks of one request to its intake. */
export class UndiciExchange implements Dispatcher.DispatchHandler {
  /** Runs a function in the async context of the attempt. */
  readonly inContext = AsyncLocalStorage.snapshot();

  constructor(private readonly intake: AnswerIntake) {}

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.intake.connected(controller);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHeaders,
  ): void {
    if (status >= 200) this.intake.responded(status, flatten(headers));
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.intake.received(chunk);
  }

  onResponseEnd(): void {
    this.intake.ended();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (error instanceof errors.ConnectTimeoutError) this.intake.expired('connect');
    else this.intake.broke(error);
  }
}

/**
 * A client that starts every request in the context of the attempt it belongs to.
 * A pool whose connections are all busy dispatches later, from whatever callback freed one; the client span
 * (diagnostics_channel, made inside dispatch) would become a child of a stranger.
 */
export class ContextClient extends Client {
  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (!(handler instanceof UndiciExchange)) return super.dispatch(options, handler);
    return handler.inContext(() => super.dispatch(options, handler));
  }
}

function flatten(headers: IncomingHeaders): Headers {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}
