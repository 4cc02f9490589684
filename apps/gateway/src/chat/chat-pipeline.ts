import { GatewayError, toGatewayError } from '@weir/kernel';
import type { Limiter, Turn } from '@weir/limiter';
import type { AttemptLoop } from '@weir/retry';
import type { StreamClient } from '@weir/upstream';
import type { Outgoing } from '../delivery/outgoing.js';
import { answerHead } from './answer-head.js';
import { attemptRequest } from './attempt-request.js';
import type { ChatCall } from './chat-call.js';
import type { Departure } from './departure.js';
import type { EarlyOpen } from './early-open.js';
import type { ExactCost } from './exact-cost.js';
import type { Granted } from './granted.js';
import type { MidStream } from './mid-stream/mid-stream.js';
import type { BrokenAnswer, RelaySteps } from './mid-stream/relay.js';
import type { Course } from './routing/course.js';
import type { Router } from './routing/router.js';
import type { Settlement } from './settlement.js';

/** The rooms that meet here, and nowhere else. */
export interface ChatRooms {
  readonly limiter: Limiter;
  readonly exactCost: ExactCost;
  readonly attempts: AttemptLoop;
  readonly router: Router;
  readonly departure: Departure;
  readonly client: StreamClient;
  readonly settlement: Settlement;
  readonly earlyOpen: EarlyOpen;
  readonly midStream: MidStream;
  /** Accounts whose provider takes `stream_options.include_usage`. */
  readonly reportsUsage: ReadonlySet<string>;
}

/**
 * The request path, in the order of reading: fair order and conversation (`enter`), a count where an estimate is not
 * enough, attempts, target and quota (`acquire`), provider (`open`), frames, settlement. Every attempt pays anew, so the
 * loop stands outside the limiter; the turn stands outside the loop, so a retry keeps its age and its conversation's place.
 */
export class ChatPipeline {
  constructor(private readonly rooms: ChatRooms) {}

  /**
   * Yields a head, then frames.
   * @param signal aborts every wait and the provider's connection; its reason is then thrown
   * @throws GatewayError before the head (a status) or after it (an in-band event)
   */
  async *run(asked: ChatCall, signal: AbortSignal): AsyncGenerator<Outgoing> {
    const { limiter, exactCost, router, earlyOpen, midStream } = this.rooms;
    const turn = limiter.enter(asked);
    let course: Course | undefined;
    try {
      const { uncounted } = asked;
      const call = uncounted === undefined ? asked : await exactCost.of(asked, uncounted, signal);
      course = router.course(call, turn);
      const steps = this.stepsOf(call, turn, signal);
      const granted = yield* earlyOpen.until(call, this.open(course, signal), (unwanted) => {
        steps.settle(call, unwanted);
      });
      const relay = midStream.relay(call, granted, steps);
      try {
        yield steps.head(granted);
        yield* relay.outgoing;
      } catch (thrown) {
        relay.broke(toGatewayError(thrown));
        throw thrown;
      } finally {
        relay.settle();
      }
    } catch (thrown) {
      throw told(thrown, course, signal);
    } finally {
      turn.leave();
    }
  }

  private open(course: Course, signal: AbortSignal): Promise<Granted> {
    const attempt = (number: number): Promise<Granted> => this.attempt(course, number, signal);
    return this.rooms.attempts.run(course.call, course, attempt, signal);
  }

  /** Asks again for an answer that broke. */
  private reopen(course: Course, { granted, error }: BrokenAnswer, signal: AbortSignal): Promise<Granted> {
    const attempt = (number: number): Promise<Granted> => this.attempt(course, number, signal);
    course.at = granted.permit.target;
    const broken = { attempt: granted.attempt, error };
    return this.rooms.attempts.resume(course.call, course, { broken, attempt }, signal);
  }

  private stepsOf(call: ChatCall, turn: Turn, signal: AbortSignal): RelaySteps {
    const { limiter, router, settlement } = this.rooms;
    return {
      reopen: (again, broken) => this.reopen(router.course(again, turn), broken, signal),
      head: (granted) => answerHead(call, granted, limiter.quota(call.identity, granted.permit.target)),
      broke: (granted, error) => {
        router.broke(granted.permit, error);
      },
      settle: (answered, granted) => settlement.settle(answered, granted),
    };
  }

  private async attempt(course: Course, attempt: number, signal: AbortSignal): Promise<Granted> {
    const { router, departure, client, reportsUsage, midStream } = this.rooms;
    const permit = await router.acquire(course, signal);
    const { target } = permit;
    try {
      const request = attemptRequest(course.call, target, attempt, reportsUsage.has(target.account));
      const onSent = (): void => {
        departure.checkConnected(course.call, permit);
        permit.sent();
      };
      const joinFrames = midStream.passesOn(course.call, target);
      departure.check(course.call, permit);
      course.calls = { account: target.account, attempts: attempt };
      const answer = await client.open({ ...request, joinFrames, onSent }, signal);
      router.answered(course, permit);
      return { permit, answer, attempt };
    } catch (thrown) {
      if (signal.aborted) permit.cancel();
      else permit.fail(toGatewayError(thrown));
      throw thrown;
    }
  }
}

/** The error with what was called before it, where its caller has nothing yet that told so. */
function told(thrown: unknown, course: Course | undefined, signal: AbortSignal): unknown {
  const calls = course?.calls;
  const isTold = !(thrown instanceof GatewayError) || thrown.committed || signal.aborted;
  return isTold || calls === undefined ? thrown : thrown.after(calls);
}
