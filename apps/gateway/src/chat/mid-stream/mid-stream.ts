import type { MidStreamPolicy } from '@weir/config';
import type { GatewayError, Target, Timers } from '@weir/kernel';
import type { Outgoing } from '../../delivery/outgoing.js';
import type { ChatCall } from '../chat-call.js';
import type { Granted } from '../granted.js';
import type { Relay, RelaySteps } from './relay.js';
import { ResumingRelay } from './resuming-relay.js';

/** Chooses how an answer is relayed: as it comes, or so that a break can be made good. */
export class MidStream {
  /** @param policyOf what is configured for a target */
  constructor(
    private readonly policyOf: (target: Target) => MidStreamPolicy,
    private readonly timers: Timers,
  ) {}

  /** Several choices come interleaved, so that no part of them could be told to be a prefix. */
  relay(call: ChatCall, first: Granted, steps: RelaySteps): Relay {
    const { target } = first.permit;
    if (this.passesOn(call, target)) return new PlainRelay(call, first, steps);
    const continues = this.policyOf(target) === 'continue';
    return new ResumingRelay(call, first, continues, { steps, timers: this.timers });
  }

  /** Whether nobody looks into the frames of an attempt at this target: neither to repeat them nor to join them to others. */
  passesOn({ request, resume }: ChatCall, target: Target): boolean {
    if (resume !== undefined) return false;
    return this.policyOf(target) === 'fail' || !request.stream || request.choices > 1;
  }
}

/** Frames as they come; a break is the end. */
class PlainRelay implements Relay {
  readonly outgoing: AsyncIterable<Outgoing>;
  private settled = false;

  constructor(
    private readonly call: ChatCall,
    private readonly granted: Granted,
    private readonly steps: RelaySteps,
  ) {
    this.outgoing = granted.answer.frames;
  }

  broke(error: GatewayError): void {
    this.steps.broke(this.granted, error);
  }

  settle(): void {
    if (this.settled) return;
    this.settled = true;
    this.steps.settle(this.call, this.granted);
  }
}
