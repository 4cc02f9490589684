import type { GatewayError } from '@weir/kernel';
import type { Cost } from '@weir/limiter';
import type { AnswerHead, Outgoing } from '../../delivery/outgoing.js';
import type { ChatCall } from '../chat-call.js';
import type { Granted } from '../granted.js';

/** What of an answer goes to the caller after its head, and the books of whichever attempt it comes from. */
export interface Relay {
  readonly outgoing: AsyncIterable<Outgoing>;
  /** The answer ended with an error. Called before `settle`. */
  broke(error: GatewayError): void;
  /** Nothing more will be read. Each permit is settled once, however often this is called. */
  settle(): void;
}

/** An answer that broke after the caller had some of it. */
export interface BrokenAnswer {
  readonly granted: Granted;
  readonly error: GatewayError;
}

/** What a relay has done elsewhere. */
export interface RelaySteps {
  /** Asks again, in the same turn, within what is left of attempts, budget and time. */
  reopen(
    call: ChatCall,
    broken: { readonly granted: Granted; readonly error: GatewayError },
  ): Promise<Granted>;
  head(granted: Granted): AnswerHead;
  broke(granted: Granted, error: GatewayError): void;
  /** @returns what was charged */
  settle(call: ChatCall, granted: Granted): Cost;
}
