import {
  GatewayError,
  seededRandom,
  toGatewayError,
  type GatewayErrorDetail,
  type Target,
} from '@weir/kernel';
import { createLimiter, type DimensionSpec } from '@weir/limiter';
import { readChatRequest } from '@weir/protocol';
import { AttemptLoop, type BreakerPolicy, type RetryPolicy } from '@weir/retry';
import { FakeClock } from '@weir/testing';
import type { ChatCall } from '../../chat-call.js';
import { breakerDimensions } from '../../../wiring/dimensions.js';
import { Router } from '../router.js';
import { TargetHealth } from '../target-health.js';

/** How a provider answers one attempt: after a while, well or not. */
export interface Answer {
  readonly afterMs: number;
  readonly error?: GatewayError;
}

/** What a test wants of the house; time is virtual. */
export interface RoutedHouseOptions {
  readonly targets: readonly Target[];
  readonly dimensions?: readonly DimensionSpec[];
  readonly concurrency?: Readonly<Record<string, number>>;
  readonly breaker?: Partial<BreakerPolicy>;
  readonly retry?: Partial<RetryPolicy>;
  /** The provider. Default: every attempt is answered well after 100 ms. */
  readonly provider?: (target: Target, now: number) => Answer;
}

/** A call that went out. */
export interface Call extends Target {
  /** 1 for the first of its request. */
  readonly attempt: number;
  readonly at: number;
}

/** What a caller got, and when. */
export interface Outcome {
  readonly account?: string;
  readonly attempts?: number;
  readonly error?: GatewayError;
  readonly at: number;
}

/** What a caller asks. */
export interface Question {
  readonly targets?: readonly [Target, ...Target[]];
  readonly fallback?: readonly Target[];
  readonly conversation?: string;
  readonly team?: string;
  readonly maxWaitMs?: number;
}

const REQUEST = readChatRequest(Buffer.from('{"model":"chat","messages":[{"role":"user","content":"x"}]}'));

/** The rooms of the gateway that decide where a request goes, with a scripted provider instead of a network. */
export class RoutedHouse {
  readonly clock = new FakeClock(1_000);
  readonly lines: { readonly event: string; readonly fields: object; readonly at: number }[] = [];
  /** Every call that went out. */
  readonly calls: Call[] = [];
  version: object = {};
  readonly limiter;
  readonly health: TargetHealth;
  readonly router: Router;
  private readonly loop: AttemptLoop;
  private readonly provider: NonNullable<RoutedHouseOptions['provider']>;
  private serial = 0;

  constructor(private readonly options: RoutedHouseOptions) {
    const { clock } = this;
    const { targets, dimensions = [], concurrency = {} } = options;
    this.provider = options.provider ?? (() => ({ afterMs: 100 }));
    this.limiter = createLimiter({
      dimensions: [...dimensions, ...breakerDimensions(targets)],
      teams: [],
      queue: { maxDepth: 100_000, maxDepthPerTeam: 100_000, maxWaitMs: 600_000 },
      clock,
      timers: clock,
      random: seededRandom(3),
      presumeSpent: false,
    });
    const log = (event: string, fields: object = {}): void => {
      this.lines.push({ event, fields, at: clock.now() });
    };
    const breaker = {
      minAttempts: 20,
      failureShare: 0.5,
      windowMs: 10_000,
      openMs: 5_000,
      maxOpenMs: 60_000,
    };
    this.health = new TargetHealth({
      rules: {
        breaker: { ...breaker, ...options.breaker },
        targets,
        concurrency: (account) => concurrency[account],
        version: () => this.version,
      },
      limiter: this.limiter,
      time: clock,
      random: seededRandom(5),
      logger: { info: log, warn: log },
    });
    this.router = new Router({ limiter: this.limiter, health: this.health, time: clock });
    const retry = { maxAttempts: 4, budgetRatio: 0.1, maxHintMs: 60_000, ...options.retry };
    this.loop = new AttemptLoop(retry, clock, seededRandom(7));
  }

  /** One request, as the pipeline does it. */
  async ask(question: Question = {}, signal = new AbortController().signal): Promise<Outcome> {
    const call = this.callOf(question);
    const turn = this.limiter.enter(call);
    const course = this.router.course(call, turn);
    try {
      return await this.loop.run(call, course, (attempts) => this.attempt(course, attempts, signal), signal);
    } catch (thrown) {
      return { error: toGatewayError(thrown), at: this.clock.now() };
    } finally {
      turn.leave();
    }
  }

  private async attempt(
    course: ReturnType<Router['course']>,
    attempts: number,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const permit = await this.router.acquire(course, signal);
    const { clock } = this;
    const { account, model } = permit.target;
    permit.sent();
    this.calls.push({ account, model, attempt: attempts, at: clock.now() });
    const { afterMs, error } = this.provider(permit.target, clock.now());
    await new Promise<void>((resolve) => clock.after(afterMs, resolve));
    if (error) {
      permit.fail(error);
      throw error;
    }
    this.router.answered(course, permit);
    permit.settle({ inputTokens: 1, outputTokens: 1 });
    return { account, attempts, at: clock.now() };
  }

  private callOf({ targets, fallback = [], conversation, team = 'search', maxWaitMs }: Question): ChatCall {
    this.serial += 1;
    const [first, ...others] = targets ?? this.options.targets;
    if (first === undefined) throw new Error('a house needs a target');
    const now = this.clock.now();
    return {
      identity: {
        requestId: `r${this.serial}`,
        team,
        model: 'chat',
        operation: 'chat',
        template: 'none',
        priority: 'normal',
        ...(conversation === undefined ? {} : { conversation }),
      },
      path: '/chat/completions',
      request: REQUEST,
      characters: 1,
      targets: [first, ...others],
      fallback,
      cost: { inputTokens: 1, outputTokens: 1 },
      arrivedAt: now,
      deadline: now + (maxWaitMs ?? 60_000),
    };
  }
}

/** A provider's no. */
export function no(
  failure: NonNullable<GatewayErrorDetail['failure']>,
  detail: GatewayErrorDetail = {},
): GatewayError {
  const retryable = !['quota_exhausted', 'auth', 'invalid_request'].includes(failure);
  return new GatewayError('upstream_unavailable', 'no', {
    origin: 'provider',
    sent: true,
    failure,
    retryable,
    ...detail,
  });
}

/** Calls at a time of an account. */
export function slotsOf(account: string, limit: number): DimensionSpec {
  return {
    id: `account:${account}:slots`,
    scope: 'account',
    account,
    unit: 'slots',
    limit,
    windowMs: 60_000,
    shape: { kind: 'unknown' },
    delaySpreadMs: 0,
  };
}

/** Requests in a window of an account, one at a time. */
export function requestsOf(account: string, limit: number, windowMs: number): DimensionSpec {
  return {
    ...slotsOf(account, limit),
    id: `account:${account}:requests`,
    unit: 'requests',
    windowMs,
    shape: { kind: 'sliding' },
    burst: 1,
  };
}
