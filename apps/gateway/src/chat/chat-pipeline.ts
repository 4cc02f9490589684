import { toGatewayError } from '@weir/kernel';
import type { Limiter } from '@weir/limiter';
import type { AttemptLoop } from '@weir/retry';
import type { StreamClient } from '@weir/upstream';
import type { Outgoing } from '../delivery/outgoing.js';
import { answerHead } from './answer-head.js';
import { attemptRequest } from './attempt-request.js';
import type { ChatCall } from './chat-call.js';
import type { Granted } from './granted.js';
import type { Course } from './routing/course.js';
import type { Router } from './routing/router.js';
import type { Settlement } from './settlement.js';

/** The rooms that meet here, and nowhere else. */
export interface ChatRooms {
  readonly limiter: Limiter;
  readonly attempts: AttemptLoop;
  readonly router: Router;
  readonly client: StreamClient;
  readonly settlement: Settlement;
  /** Accounts whose provider takes `stream_options.include_usage`. */
  readonly reportsUsage: ReadonlySet<string>;
}

/**
 * The request path, in the order of reading: fair order and conversation (`enter`), attempts, target and
 * quota (`acquire`), provider (`open`), frames, settlement. Every attempt pays anew, so the loop stands outside the limiter;
 * the turn stands outside the loop, so a retry keeps its age and its conversation's place.
 */
export class ChatPipeline {
  constructor(private readonly rooms: ChatRooms) {}

  /**
   * Yields one head, then frames.
   * @param signal aborts every wait and the provider's connection; its reason is then thrown
   * @throws GatewayError before the head (a status) or after it (an in-band event)
   */
  async *run(call: ChatCall, signal: AbortSignal): AsyncGenerator<Outgoing> {
    const { limiter, attempts, router, settlement } = this.rooms;
    const turn = limiter.enter(call);
    try {
      const course = router.course(call, turn);
      const attempt = (number: number): Promise<Granted> => this.attempt(course, number, signal);
      const granted = await attempts.run(call, course, attempt, signal);
      try {
        yield answerHead(call, granted, limiter.quota(call.identity, granted.permit.target));
        for await (const frame of granted.answer.frames) yield frame;
      } catch (thrown) {
        router.broke(granted.permit, toGatewayError(thrown));
        throw thrown;
      } finally {
        settlement.settle(call, granted);
      }
    } finally {
      turn.leave();
    }
  }

  private async attempt(course: Course, attempt: number, signal: AbortSignal): Promise<Granted> {
    const { router, client, reportsUsage } = this.rooms;
    const permit = await router.acquire(course, signal);
    const { target } = permit;
    try {
      const request = attemptRequest(course.call, target, attempt, reportsUsage.has(target.account));
      const onSent = (): void => {
        permit.sent();
      };
      const answer = await client.open({ ...request, onSent }, signal);
      router.answered(course, permit);
      return { permit, answer, attempt };
    } catch (thrown) {
      if (signal.aborted) permit.cancel();
      else permit.fail(toGatewayError(thrown));
      throw thrown;
    }
  }
}
