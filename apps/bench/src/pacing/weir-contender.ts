import { GatewayError, type CallIdentity, type Milliseconds } from '@weir/kernel';
import { createLimiter, type Ask, type DimensionSpec, type PacedLimiter, type Shape } from '@weir/limiter';
import { expire, type Contender, type Surroundings } from './contender.js';
import { tokenShape, type Judgement, type ProviderShape } from './provider-quotas.js';
import { DEADLINE_MS, TEAMS, type Job } from './traffic.js';

/** What Weir is told, and what it may do. */
export interface WeirSettings {
  /** Whether it knows the provider's shape. */
  readonly knowsShape: boolean;
  /** Whether it refuses at once what it cannot serve in time. */
  readonly refusesEarly: boolean;
}

const TARGET = { account: 'main', model: 'm' };
/** J, by default. */
const DELAY_SPREAD_MS: Milliseconds = 250;

/** Weir's own limiter, as the gateway drives it: one turn a request, one permit an attempt, 429s back with their age. */
export class WeirContender implements Contender {
  private readonly limiter: PacedLimiter;

  constructor(
    private readonly settings: WeirSettings,
    private readonly around: Surroundings,
  ) {
    const { time, random } = around;
    this.limiter = createLimiter({
      dimensions: dimensions(settings, around),
      teams: TEAMS.map(([id]) => ({ id, weight: 1 })),
      queue: {
        maxWaitMs: settings.refusesEarly ? DEADLINE_MS : Infinity,
        maxDepth: 10_000,
        maxDepthPerTeam: 2_000,
      },
      clock: time,
      timers: time,
      random,
    });
  }

  submit(job: Job): void {
    void this.serve(job);
  }

  private async serve(job: Job): Promise<void> {
    const { time } = this.around;
    const { refusesEarly } = this.settings;
    const gaveUp = new AbortController();
    // Whoever names no deadline is not refused early; it leaves by itself when its time is over.
    const leaving = refusesEarly
      ? undefined
      : time.at(job.deadline, () => {
          gaveUp.abort(new Error('The caller has left.'));
        });
    const turn = this.limiter.enter({
      identity: identityOf(job),
      deadline: refusesEarly ? job.deadline : Infinity,
    });
    try {
      while (!(await this.attempt(turn, job, gaveUp.signal)));
    } catch {
      if (!expire(job, time.now() + 1)) job.state = 'refused';
    } finally {
      leaving?.cancel();
      turn.leave();
    }
  }

  /** @returns whether the provider took it */
  private async attempt(
    turn: ReturnType<PacedLimiter['enter']>,
    job: Job,
    signal: AbortSignal,
  ): Promise<boolean> {
    const ask: Ask = { target: TARGET, cost: { inputTokens: job.tokens, outputTokens: 0 } };
    const permit = await turn.acquire(ask, signal);
    permit.sent();
    const judgement = await new Promise<Judgement>((answered) => {
      this.around.send(job, answered);
    });
    if (judgement.admitted) permit.settle({ inputTokens: job.tokens, outputTokens: 0 });
    else permit.fail(refusal(judgement));
    return judgement.admitted;
  }
}

function dimensions({ knowsShape }: WeirSettings, { limits, shape }: Surroundings): DimensionSpec[] {
  const declared = (its: ProviderShape): Shape => (knowsShape ? spoken(its) : { kind: 'unknown' });
  const common = {
    scope: 'account',
    account: TARGET.account,
    windowMs: limits.windowMs,
    delaySpreadMs: DELAY_SPREAD_MS,
  } as const;
  return [
    { ...common, id: 'requests', unit: 'requests', limit: limits.requests, shape: declared(shape) },
    {
      ...common,
      id: 'tokens',
      unit: 'tokens',
      limit: limits.tokens,
      shape: declared(tokenShape(shape, limits.tokens)),
    },
  ];
}

function spoken(shape: ProviderShape): Shape {
  if (typeof shape === 'string') return { kind: shape };
  if ('bucket' in shape) return { kind: 'bucket', capacity: shape.bucket };
  return { kind: 'quantum', quantumMs: shape.quantumMs };
}

function identityOf(job: Job): CallIdentity {
  return {
    requestId: 'r',
    team: job.team,
    model: TARGET.model,
    operation: 'chat',
    template: 'none',
    priority: 'normal',
  };
}

function refusal({ by, retryAfterMs }: Judgement & { admitted: false }): GatewayError {
  return new GatewayError('upstream_rate_limited', 'Slow down.', {
    origin: 'provider',
    failure: by === 'requests' ? 'rate_limit_requests' : 'rate_limit_tokens',
    hintMs: retryAfterMs,
    upstreamStatus: 429,
    retryable: true,
    sent: true,
  });
}
