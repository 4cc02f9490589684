import { errors, type Dispatcher } from 'undici';
import type { AnswerIntake } from './answer-intake.js';
import type { Headers } from './refusal.js';

type IncomingHeaders = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

/** Hands undici's callbacks of one request to its intake. */
export class UndiciExchange implements Dispatcher.DispatchHandler {
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

function flatten(headers: IncomingHeaders): Headers {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}
